import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { createApi } from "../e2e/support/api.ts";
import { freePort } from "../helpers/free-port.ts";
import { emptyFolder, SVC } from "../helpers/server.ts";
import {
  copyContext,
  environmentOf,
  type Instruction,
  listOf,
  readDockerfile,
  restsOf,
} from "./support/dockerfile.ts";

setDefaultTimeout(60_000);

const ROOT = join(import.meta.dir, "../..");
const BUILD_WITHIN_MS = 180_000;
const canMount =
  process.getuid?.() === 0 &&
  process.platform === "linux" &&
  Bun.spawnSync(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]).exitCode === 0;

const [build = [], runtime = []] = readDockerfile(join(ROOT, "Dockerfile"));
const page = readFileSync(join(ROOT, "docs/deploying.md"), "utf8");

/** Mounts the image read-only with its volume, and becomes a command in it, as the image's user and without privileges. */
const ENTER = `
mount --bind "$IMAGE" "$IMAGE"
mount --bind "$VOLUME" "$IMAGE/var/lib/svc"
mount -t proc proc "$IMAGE/proc"
mount --bind /dev "$IMAGE/dev"
mount -t tmpfs -o noexec none "$IMAGE/tmp"
mount -o remount,ro,bind "$IMAGE"
exec setpriv --no-new-privs chroot --userspec="$USER_OF_IMAGE" --groups= "$IMAGE" "$@"
`;

describe("the image", () => {
  test("is built by the Bun that the project names, and runs as a user without privileges", () => {
    const bun = readFileSync(join(ROOT, ".bun-version"), "utf8").trim();
    expect(restsOf(build, "FROM")).toEqual([`oven/bun:${bun}-debian AS build`]);
    const [user] = restsOf(runtime, "USER");
    expect(Number(user?.split(":")[0])).toBeGreaterThan(0);
    const copied = runtime.find(({ rest }) => rest.endsWith(" /var/lib/svc"));
    expect(copied?.flags.get("chown")).toBe(user ?? "");
    expect(restsOf(runtime, "VOLUME")).toEqual(["/var/lib/svc"]);
  });

  test("gives the server longer to stop than it takes", () => {
    const compose = parse(readFileSync(join(ROOT, "compose.yaml"), "utf8"));
    expect(compose.services.gateway).toMatchObject({
      stop_grace_period: "60s",
      read_only: true,
      cap_drop: ["ALL"],
      volumes: ["data:/var/lib/svc"],
    });
    expect(Object.keys(compose.volumes)).toEqual(["data"]);
  });

  test("needs no newer C library than the documents say", async () => {
    // The executable holds the libraries it unpacks, as they are.
    const bytes = await Bun.file(SVC).bytes();
    const minors = Buffer.from(bytes)
      .toString("latin1")
      .matchAll(/GLIBC_2\.(\d+)\0/g);
    const newest = Math.max(...[...minors].map(([, minor]) => Number(minor)));
    expect(page).toContain(`glibc 2.${newest} `);
  });
});

describe.skipIf(!canMount)("the image's steps", () => {
  const context = emptyFolder("context");
  const image = emptyFolder("image");
  const volume = emptyFolder("volume");
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const servers: { kill(signal: "SIGKILL"): void }[] = [];

  beforeAll(async () => {
    copyContext(ROOT, context);
    await playBuild(build, context);
    for (const instruction of runtime) playCopy(instruction, { context, image });
    await addLibraries(image, context);
    for (const folder of ["proc", "dev", "tmp", "etc"]) mkdirSync(join(image, folder), { recursive: true });
    // Whatever the umask of this process.
    await Bun.$`chmod -R a+rX ${image}`.quiet();
    await Bun.$`chown 65532:65532 ${volume}`.quiet();
  }, BUILD_WITHIN_MS);

  afterAll(() => {
    for (const server of servers) server.kill("SIGKILL");
  });

  const enter = (command: readonly string[]) => {
    const env = { ...environmentOf(runtime), SVC_PORT: String(port), SVC_SERVER: url, SVC_PUBLIC_URL: url };
    const own = { PATH: process.env.PATH ?? "", IMAGE: image, VOLUME: volume };
    return Bun.spawn(["unshare", "-m", "sh", "-ec", ENTER, "sh", ...command], {
      env: { ...env, ...own, USER_OF_IMAGE: restsOf(runtime, "USER")[0] ?? "" },
      stdout: "pipe",
      stderr: "pipe",
    });
  };
  const health = async () => await enter(listOf(runtime, "HEALTHCHECK")).exited;

  test("make a server that works on a read-only file system, tells its health, and stops in order", async () => {
    expect(await health()).not.toBe(0);
    const server = enter([...listOf(runtime, "ENTRYPOINT"), ...listOf(runtime, "CMD")]);
    servers.push(server);
    const log = server.stderr.text();
    const deadline = performance.now() + 30_000;
    while ((await health()) !== 0) {
      if (server.exitCode !== null || performance.now() > deadline) throw new Error(await log);
    }
    const { key } = JSON.parse(readFileSync(join(volume, "bootstrap.json"), "utf8"));
    const api = createApi(url, key);
    const quick = { sandbox: { delay_ms: 0 } };
    const made = [
      await api.make({ model: "sandbox-image", prompt: "a fox", size: "64x64", ...quick }),
      await api.make({ model: "sandbox-video", prompt: "a fox", duration: 1, ...quick }),
    ];
    expect(made.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect(readdirSync(join(volume, "native"))).toHaveLength(1);
    server.kill("SIGTERM");
    expect([await server.exited, await health()]).toEqual([0, 11]);
    const told = (await log).split("\n").filter((line) => /"level":"(warn|error)"/.test(line));
    expect(told).toEqual([]);
  });
});

/** Runs the steps of the first stage, in the context: what it copies first are files of the context too. */
async function playBuild(stage: readonly Instruction[], context: string): Promise<void> {
  for (const rest of restsOf(stage, "COPY"))
    for (const path of rest.split(" ").slice(0, -1))
      if (!existsSync(join(context, path)))
        throw new Error(`The build copies ${path}, which .dockerignore keeps out.`);
  for (const step of restsOf(stage, "RUN")) {
    if (step.startsWith("bun install ")) {
      // Installed from the same lock file already.
      symlinkSync(join(ROOT, "node_modules"), join(context, "node_modules"));
      continue;
    }
    const line = step
      .replaceAll("/out", join(context, "out"))
      .replaceAll(/\bbun run\b/g, `${process.execPath} run`);
    const child = Bun.spawn(["sh", "-ec", line], { cwd: context, stdout: "pipe", stderr: "pipe" });
    if ((await child.exited) !== 0) throw new Error(`${step}\n${await child.stderr.text()}`);
  }
}

function playCopy({ word, rest }: Instruction, { context, image }: { context: string; image: string }): void {
  if (word !== "COPY") return;
  const [from = "", to = ""] = rest.split(" ");
  mkdirSync(dirname(join(image, to)), { recursive: true });
  cpSync(join(context, from), join(image, to), { recursive: true });
}

/** In place of the base image: what the executable and its native libraries link to, as `ldd` tells it. */
async function addLibraries(image: string, context: string): Promise<void> {
  const natives = new Bun.Glob("node_modules/@img/*/lib/*.{node,so}*").scan({
    cwd: ROOT,
    followSymlinks: true,
  });
  const programs = [
    join(context, "out/svc"),
    ...(await Array.fromAsync(natives)).map((path) => join(ROOT, path)),
  ];
  for (const program of programs) {
    const listed = await Bun.$`ldd ${program}`.quiet().text();
    for (const [path] of listed.matchAll(/(?<=\s)\/\S+(?= \()/g)) {
      if (path.includes("/node_modules/")) continue;
      mkdirSync(dirname(join(image, path)), { recursive: true });
      cpSync(path, join(image, path), { dereference: true });
    }
  }
}
