import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { type Scripted, type ScriptedUpstream, startUpstream } from "../helpers/scripted-upstream.ts";
import {
  emptyFolder,
  type Server,
  type ServerOptions,
  spawnServer,
  startServer,
  stopServers,
} from "../helpers/server.ts";
import { type Api, createApi } from "./support/api.ts";
import { keyIn, svc } from "./support/command.ts";
import { openCuttingProxy } from "./support/cutting-proxy.ts";
import { formOf } from "./support/forms.ts";
import { plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const MODEL = "gpt-image-2";
const REQUEST = { model: MODEL, prompt: "a lighthouse", size: "1024x1024", quality: "low" };
const OWN_KEY = `sk-svc-${"0".repeat(38)}`;
const KEY = "sk-live-0123456789";

/** How a start ended that must be refused; one that is not refused is stopped. */
async function refusalOf(options: ServerOptions): Promise<{ exitCode: number | null; stderr: string }> {
  const server = spawnServer(options);
  const isReady = await Promise.race([
    server.ready().then(
      () => true,
      () => false,
    ),
    server.exited.then(() => false),
  ]);
  const exitCode = isReady ? null : await server.exited;
  if (isReady) await server.stop();
  return { exitCode, stderr: server.stderr() };
}

/** An address of this machine that is not on its loopback. */
function outerAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each = []) => each);
  const outer = all.find(({ family, internal }) => family === "IPv4" && !internal);
  return outer?.address ?? "127.0.0.1";
}

describe("a provider at an address of the service itself ends the start", () => {
  const PORT = freePort();
  const LONG_PORT = freePort();
  test.each([
    ["127.0.0.1", `http://127.0.0.1:${PORT}/compat/v1`],
    ["another loopback address", `http://127.7.7.7:${PORT}`],
    ["a number", `http://2130706433:${PORT}/compat/v1`],
    ["0.0.0.0", `http://0.0.0.0:${PORT}/compat/v1`],
    ["::1", `http://[::1]:${PORT}/compat/v1`],
    ["wrapped IPv4", `http://[::ffff:127.0.0.1]:${PORT}/compat/v1`],
    ["localhost", `http://LocalHost:${PORT}/compat/v1/`],
    ["localhost with a dot", `http://localhost.:${PORT}/compat/v1`],
    ["below localhost", `http://svc.localhost:${PORT}/compat/v1`],
    ["the name of this machine", `http://${hostname()}:${PORT}/compat/v1`],
    ["an address of an interface", `http://${outerAddress()}:${PORT}/compat/v1`],
    ["the long port", `http://127.0.0.1:${LONG_PORT}/compat/v1`],
    ["the public URL", "https://media.example.com/compat/v1"],
    ["the public URL with its port", "https://media.example.com:443"],
  ])("as %s", async (_, url) => {
    const args = ["--long-port", String(LONG_PORT), "--public-url", "https://media.example.com"];
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url };
    const { exitCode, stderr } = await refusalOf({ port: PORT, args, env });
    expect(exitCode).toBe(12);
    expect(stderr).toContain("OPENAI_BASE_URL: leads back to this service itself");
    expect(stderr).not.toContain(KEY);
  });

  test.each<[string, (url: string, folder: string) => ServerOptions, string]>([
    ["flag", (url) => ({ args: ["--openai-base-url", url] }), "--openai-base-url:"],
    [
      "variable of svc",
      (url) => ({ env: { SVC_PROVIDERS_FAL_BASE_URL: url } }),
      "SVC_PROVIDERS_FAL_BASE_URL:",
    ],
    [
      "settings file",
      (url, folder) => {
        mkdirSync(join(folder, "svc-data"), { mode: 0o700 });
        writeFileSync(join(folder, "svc-data", "svc.yaml"), `providers:\n  fal:\n    base_url: ${url}\n`);
        return {};
      },
      "svc.yaml:3:5: providers.fal.base_url:",
    ],
  ])("given by %s, which the message names", async (_, give, where) => {
    const folder = emptyFolder();
    const given = give(`http://localhost:${PORT}`, folder);
    const env = { OPENAI_API_KEY: KEY, FAL_KEY: KEY, ...given.env };
    const { exitCode, stderr } = await refusalOf({ ...given, folder, port: PORT, env });
    expect([exitCode, stderr.includes(where)]).toEqual([12, true]);
  });
});

describe("variables that clients are told to set", () => {
  let server: Server;
  const exportsOf = (key: string, url: string) => ({
    ...{ SVC_SERVER: url, SVC_API_KEY: key },
    ...{ OPENAI_BASE_URL: `${url}/compat/v1`, OPENAI_API_KEY: key },
  });

  beforeAll(async () => {
    server = await startServer();
    await server.stop();
  });

  test("do not make the server its own provider, and local commands go on", async () => {
    const { folder, port, url } = server;
    const env = exportsOf(server.firstKey(), url);
    const { exitCode, stderr } = await refusalOf({ folder, port, env });
    expect([exitCode, stderr.includes("OPENAI_BASE_URL")]).toEqual([12, true]);
    expect((await svc(["keys", "list"], { folder, env })).exitCode).toBe(0);
  });

  test("do not make a key of svc the key of a provider, and the start says so", async () => {
    const own = server.firstKey();
    for (const env of [{ OPENAI_API_KEY: own }, { OPENAI_API_KEY: OWN_KEY, FAL_KEY: own }]) {
      const again = await startServer({ folder: server.folder, env });
      const line = await again.says(/OPENAI_API_KEY is ignored/);
      expect(line).toContain('"level":"warn"');
      const { text } = await createApi(again.url, own).send("/v1/models");
      expect(text).toContain("sandbox-image");
      expect(text).not.toContain(MODEL);
      await again.stop();
      expect(again.stderr() + again.stdout()).not.toContain("sk-svc-");
    }
  });

  test("are spoken of where the server takes them for its own", async () => {
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };
    const using = await startServer({ env });
    await using.says(
      /openai: key from OPENAI_API_KEY, base URL from OPENAI_BASE_URL: http:\/\/127\.0\.0\.1:9\/v1/,
    );
    await using.stop();
    const off = await startServer({ env: { OPENAI_BASE_URL: env.OPENAI_BASE_URL } });
    await off.stop();
    expect(off.stderr()).not.toContain("OPENAI_BASE_URL");
  });
});

describe("a request that instances pass on", () => {
  let upstream: ScriptedUpstream;
  let server: Server;
  let api: Api;

  beforeAll(async () => {
    const image = Buffer.from(await plainImage(1024, 1024)).toString("base64");
    const answer: Scripted = { json: { created: 1, data: [{ b64_json: image }] } };
    upstream = await startUpstream(() => answer);
    server = await startServer({ env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: upstream.origin } });
    api = createApi(server.url, server.firstKey());
  });
  afterAll(() => upstream.stop());

  test.each([
    [{}, "1"],
    [{ "X-Svc-Hops": "1" }, "2"],
    [{ "X-Svc-Hops": "3" }, "4"],
  ])("with %j goes on as one that came through %s", async (headers, told) => {
    for (const path of ["/v1/images/generations", "/compat/v1/images/generations"]) {
      const before = upstream.arrived.length;
      const answer = await api.send(path, { body: REQUEST, headers });
      expect(answer.status).toBe(200);
      await upstream.until(before + 1);
      expect(upstream.arrived[before]?.headers.get("x-svc-hops")).toBe(told);
    }
  });

  test.each(["4", "5", "9999"])(
    "is refused with X-Svc-Hops: %s, and nothing is held or made",
    async (hops) => {
      const headers = { "X-Svc-Hops": hops };
      const before = upstream.arrived.length;
      const create = await api.create(REQUEST, headers);
      expect([create.status, create.data.error_code]).toEqual([508, "loop_detected"]);
      expect(create.headers.get("x-should-retry")).toBe("false");
      const call = await api.send("/compat/v1/images/generations", { body: REQUEST, headers });
      expect([call.status, call.body.error?.code]).toEqual([508, "loop_detected"]);
      const form = await formOf({ model: MODEL, prompt: "x" }, [["image", await plainImage(8, 8)]]);
      const edit = await api.send("/compat/v1/images/edits", {
        ...form,
        headers: { ...form.headers, ...headers },
      });
      expect([edit.status, edit.body.error?.code]).toEqual([508, "loop_detected"]);
      expect(upstream.arrived).toHaveLength(before);
    },
  );

  test.each(["0", "-1", "x", "1, 2", "99999", ""])(
    "is refused with X-Svc-Hops: %j, which no instance sends",
    async (hops) => {
      const { status, data, body } = await api.create(REQUEST, { "X-Svc-Hops": hops });
      expect([status, data.error_code]).toEqual([400, "invalid_request"]);
      expect(body.message).toContain("X-Svc-Hops");
    },
  );

  test("in a circle that no address gives away ends after five, once, with all that was held released", async () => {
    const names = ["one", "two"] as const;
    const parts = await Promise.all(
      names.map(async () => {
        const folder = emptyFolder("circle");
        const port = freePort();
        await svc(["migrate", "up"], { folder });
        const key = keyIn(
          (await svc(["keys", "create", "--name", "circle", "--show-secret-only"], { folder })).stdout,
        );
        return { folder, port, key, proxy: await openCuttingProxy(port) };
      }),
    );
    const servers = await Promise.all(
      parts.map(({ folder, port }, i) => {
        const other = parts[1 - i];
        const env = { OPENAI_API_KEY: other?.key ?? "", OPENAI_BASE_URL: `${other?.proxy.url}/compat/v1` };
        return startServer({ folder, port, env, args: ["--no-sandbox", "--openai-idempotent"] });
      }),
    );
    const apis = servers.map(({ url }, i) => createApi(url, parts[i]?.key ?? ""));
    const id = await apis[0]?.accept(REQUEST);
    const task = await apis[0]?.wait(id ?? "", "image", 15);
    expect([task?.status, task?.error_code, task?.usage?.cost]).toEqual([
      "failed",
      "LOOP_DETECTED",
      "0.000000",
    ]);
    const made = await Promise.all(apis.map(async (each) => (await each.send("/v1/tasks")).data.tasks ?? []));
    expect(made.map((tasks) => tasks.map(({ status }) => status))).toEqual([
      ["failed", "failed"],
      ["failed", "failed"],
    ]);
    const call = await apis[1]?.send("/compat/v1/images/generations", { body: REQUEST });
    expect([call?.status, call?.body.error?.code]).toEqual([508, "loop_detected"]);
    for (const { proxy } of parts) await proxy.close();
  });
});
