import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createApi } from "../e2e/support/api.ts";
import { svcJson } from "../e2e/support/command.ts";
import { has, NAME, type RunningProxy, startProxy } from "../e2e/support/proxies.ts";
import { freePort } from "../helpers/free-port.ts";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";

setDefaultTimeout(120_000);

const MEGABYTE = 1_000_000;
/** As the default address has; the long one has none. */
const EDGE_SEC = 5;
const JSON_TYPE = ["-H", "Content-Type: application/json"];
const REQUESTS = 4;

describe.each(["nginx", "caddy"] as const)("behind %s", (name) => {
  if (!has(name)) {
    test.skip("the sample works", () => {});
    return;
  }
  const ports = { port: freePort(), longPort: freePort() };
  const folder = emptyFolder(`behind-${name}`);
  let server: Server;
  let proxy: RunningProxy;
  let auth: string[];

  const start = () =>
    startServer({
      folder,
      port: ports.port,
      args: [
        ...["--long-port", String(ports.longPort), "--trusted-proxies", "127.0.0.1/32"],
        ...["--edge-timeout-seconds", String(EDGE_SEC)],
      ],
    });

  beforeAll(async () => {
    server = await start();
    auth = ["-H", `Authorization: Bearer ${server.firstKey()}`];
    proxy = await startProxy(name, ports);
  });
  afterAll(async () => {
    await proxy?.stop();
    await stopServers();
  });

  const create = async (delayMs: number) => {
    const body = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: delayMs } };
    const answer = await proxy.curl(
      "/v1/images/generations",
      ...auth,
      ...JSON_TYPE,
      "-d",
      JSON.stringify(body),
    );
    expect(answer.status).toBe(200);
    return String(JSON.parse(answer.body).data.task_id);
  };

  test("a task's events come one by one, and its URL has the proxy's scheme and name", async () => {
    const id = await create(2_000);
    const decoder = new TextDecoder();
    let read = "";
    let statusAtFirst: string | undefined;
    for await (const piece of proxy.stream(`/v1/tasks/${id}/events`, ...auth)) {
      read += decoder.decode(piece, { stream: true });
      if (statusAtFirst === undefined && read.includes("\ndata:"))
        statusAtFirst = JSON.parse((await proxy.curl(`/v1/images/status/${id}`, ...auth)).body).data.status;
    }
    expect(statusAtFirst).toMatch(/^(pending|processing)$/);
    expect(read).toContain('"completed"');
    const { body } = await proxy.curl(`/v1/images/status/${id}`, ...auth);
    expect(body).toContain(`"https://${NAME}`);
  });

  test("calls that wait may take longer than the default address allows, whichever API they use", async () => {
    const model = "sandbox-image";
    const asked = { prompt: "x", size: "64x64", sandbox: { delay_ms: 6_000 } };
    const generationConfig = { size: "64x64", sandbox: { delay_ms: 6_000 } };
    const calls = {
      "/compat/v1/images/generations": { ...asked, model },
      [`/compat/v1/openai/deployments/${model}/images/generations`]: asked,
      [`/fal/${model}`]: asked,
      [`/gemini/v1beta/models/${model}:generateContent`]: {
        ...{ contents: [{ parts: [{ text: "x" }] }], generationConfig },
      },
      "/sdapi/v1/txt2img": { ...asked, override_settings: { sd_model_checkpoint: model } },
    };
    const answers = Object.entries(calls).map(async ([path, body]) => {
      const args = [...auth, ...JSON_TYPE, "-d", JSON.stringify(body)];
      return [path, (await proxy.curl(path, ...args)).status];
    });
    expect(await Promise.all(answers)).toEqual(Object.keys(calls).map((path) => [path, 200]));
  });

  test("bodies of 100 MB reach the service, larger ones end at the proxy", async () => {
    const send = async (sizeMb: number) => {
      const file = join(folder, "body");
      await Bun.write(file, new Uint8Array(sizeMb * MEGABYTE));
      return await proxy.curl(
        "/compat/v1/images/generations",
        ...auth,
        ...JSON_TYPE,
        "--data-binary",
        `@${file}`,
      );
    };
    const within = await send(100);
    expect([within.status, JSON.parse(within.body).error !== undefined]).toEqual([413, true]);
    expect(within.headers.toLowerCase()).toContain("x-request-id");
    const beyond = await send(130);
    expect(beyond.status).toBe(413);
    expect(beyond.body).not.toContain("error_code");
  });

  test("the caller's address is the proxy's word, not the caller's", async () => {
    const keyFor = async (address: string) => {
      const args = ["--name", address, "--allow-ip", address, "--data-dir", server.dataDir];
      return [
        "-H",
        `Authorization: Bearer ${((await svcJson(["keys", "create", ...args])) as { key: string }).key}`,
      ];
    };
    const [real, claimed] = [await keyFor("127.0.0.2"), await keyFor("203.0.113.9")];
    const claim = ["-H", "X-Forwarded-For: 203.0.113.9"];
    expect((await proxy.curl("/v1/models", ...real, ...claim)).status).toBe(200);
    const refused = await proxy.curl("/v1/models", ...claimed, ...claim);
    expect(refused.status).toBe(401);
  });

  test("a restart of the service loses no task, and what callers see of it is what the page says", async () => {
    const id = await create(3_000);
    let isOver = false;
    const statuses = new Set<number>();
    const ask = async () => {
      while (!isOver) statuses.add((await proxy.curl("/v1/models", ...auth)).status);
    };
    const asking = Array.from({ length: REQUESTS }, ask);
    server.signal("SIGTERM");
    expect(await server.exited).toBe(0);
    server = await start();
    expect((await proxy.curl("/v1/models", ...auth)).status).toBe(200);
    isOver = true;
    await Promise.all(asking);
    // nginx answers 502 while nobody listens; Caddy waits.
    expect([...statuses].filter((status) => status !== 200 && !(name === "nginx" && status === 502))).toEqual(
      [],
    );
    expect((await createApi(server.url, server.firstKey()).wait(id)).status).toBe("completed");
  });
});
