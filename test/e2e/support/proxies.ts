import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../helpers/free-port.ts";
import { emptyFolder } from "../../helpers/server.ts";

/** The name that the samples are written for. */
export const NAME = "media.example.com";
const SAMPLES = join(import.meta.dir, "../../../docs/proxies");
const READY_WITHIN_MS = 20_000;

export interface RunningProxy {
  readonly name: string;
  /** Asks the proxy by its name, as a caller whose address is 127.0.0.2. */
  curl(
    ...args: string[]
  ): Promise<{ readonly status: number; readonly body: string; readonly headers: string }>;
  /** The same, with the body as it comes. */
  stream(...args: string[]): ReadableStream<Uint8Array>;
  stop(): Promise<void>;
}

export interface Ports {
  readonly port: number;
  readonly longPort: number;
}

type Start = (folder: string, port: number, upstream: Ports) => string[];

const STARTS: Readonly<Record<"nginx" | "caddy", Start>> = {
  nginx(folder, port, upstream) {
    const sample = withPorts(readFileSync(join(SAMPLES, "nginx.conf"), "utf8"), upstream)
      .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
      .replace(/ssl_certificate .*;/, `ssl_certificate ${folder}/cert.pem;`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${folder}/key.pem;`);
    const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((each) => `${each}_temp_path ${folder}/${each};`)
      .join("\n");
    const whole = `pid ${folder}/pid; error_log ${folder}/log; user root; events {}\nhttp { access_log off;\n${folders}\n${sample}\n}`;
    writeFileSync(join(folder, "nginx.conf"), whole);
    return ["nginx", "-c", join(folder, "nginx.conf"), "-g", "daemon off;"];
  },
  caddy(folder, port, upstream) {
    const sample = withPorts(readFileSync(join(SAMPLES, "Caddyfile"), "utf8"), upstream).replace(
      `${NAME} {`,
      `{\n admin off\n auto_https disable_redirects\n}\nhttps://${NAME}:${port} {\n bind 127.0.0.1\n tls ${folder}/cert.pem ${folder}/key.pem`,
    );
    writeFileSync(join(folder, "Caddyfile"), sample);
    return ["caddy", "run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
  },
};

export const has = (name: keyof typeof STARTS): boolean =>
  [name, "curl", "openssl"].every((program) => Bun.which(program, { PATH: searched() }) !== null);

/** Debian puts nginx where only root looks. */
const searched = () => `${process.env.PATH ?? ""}:/usr/sbin`;

/** Starts a proxy from its sample, with other ports and a certificate of its own. @throws Error when it does not start */
export async function startProxy(name: keyof typeof STARTS, upstream: Ports): Promise<RunningProxy> {
  const folder = emptyFolder(name);
  const port = freePort();
  await Bun.$`openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${NAME} -addext ${`subjectAltName=DNS:${NAME}`} -keyout key.pem -out cert.pem`
    .cwd(folder)
    .quiet();
  const child = Bun.spawn(STARTS[name](folder, port, upstream), {
    env: { PATH: searched(), HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdout: Bun.file(join(folder, "out")),
    stderr: Bun.file(join(folder, "err")),
  });
  const own = [
    "--cacert",
    join(folder, "cert.pem"),
    "--resolve",
    `${NAME}:${port}:127.0.0.1`,
    "--interface",
    "127.0.0.2",
  ];
  const line = (args: readonly string[]) => [
    ...["curl", "-sS", ...own],
    // A path is one of the proxy's.
    ...args.map((arg) => (arg.startsWith("/") ? `https://${NAME}:${port}${arg}` : arg)),
  ];
  const curl: RunningProxy["curl"] = async (...args) => {
    const headers = `headers-${crypto.randomUUID()}`;
    const asked = Bun.spawn(line(["-D", headers, "-w", "\n%{http_code}", ...args]), {
      cwd: folder,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [text, trouble] = await Promise.all([asked.stdout.text(), asked.stderr.text()]);
    await asked.exited;
    const at = text.lastIndexOf("\n");
    const read = await Bun.file(join(folder, headers))
      .text()
      .catch(() => trouble);
    return { status: Number(text.slice(at + 1)), body: text.slice(0, at), headers: read };
  };
  const deadline = performance.now() + READY_WITHIN_MS;
  while ((await curl("/healthz")).status !== 200)
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`${name} does not answer.\n${readFileSync(join(folder, "err"), "utf8")}`);
  return {
    name,
    curl,
    stream: (...args) => Bun.spawn(line(["-N", ...args]), { stdout: "pipe", stderr: "ignore" }).stdout,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

function withPorts(sample: string, { port, longPort }: Ports): string {
  return sample
    .replaceAll("127.0.0.1:8787", `127.0.0.1:${port}`)
    .replaceAll("127.0.0.1:8788", `127.0.0.1:${longPort}`);
}
