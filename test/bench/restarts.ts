/*
 * What callers see of restarts: the server is stopped by SIGTERM and started again when it has ended, as systemd does, while
 * callers read and create without a pause, each request on a connection of its own.
 *
 *   bun test/bench/restarts.ts [--restarts 20] [--callers 8] [--through caddy|nginx]
 */
import { parseArgs } from "node:util";
import { type RunningProxy, startProxy } from "../e2e/support/proxies.ts";
import { freePort } from "../helpers/free-port.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";

const { values } = parseArgs({
  options: {
    restarts: { type: "string", default: "20" },
    callers: { type: "string", default: "8" },
    through: { type: "string" },
  },
});
const ports = { port: freePort(), longPort: freePort() };
const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };
/** A caller waits this long between requests, and a retrying one between tries. */
const PAUSE_MS = 20;
const RETRIES = 200;

const seen = new Map<string, number>();
const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
let isOver = false;
let longestOutageMs = 0;

const start = (folder?: string): Promise<Server> =>
  startServer({
    port: ports.port,
    args: ["--long-port", String(ports.longPort)],
    ...(folder ? { folder } : {}),
  });

let server = await start();
const key = server.firstKey();
const proxy: RunningProxy | undefined =
  values.through === "caddy" || values.through === "nginx"
    ? await startProxy(values.through, ports)
    : undefined;

/** @returns the status, or what became of the connection */
async function ask(
  path: string,
  init: { method?: string; body?: string; id?: string } = {},
): Promise<number | string> {
  const headers = {
    Authorization: `Bearer ${key}`,
    "Content-Type": "application/json",
    "Idempotency-Key": init.id ?? "",
  };
  if (proxy !== undefined) {
    const named = Object.entries(headers).filter(([, value]) => value !== "");
    const flags = named.flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    return (await proxy.curl(path, ...flags, ...(init.body === undefined ? [] : ["-d", init.body]))).status;
  }
  if (init.id === undefined) Reflect.deleteProperty(headers, "Idempotency-Key");
  const { method = "GET", body = null } = init;
  try {
    const response = await fetch(`${server.url}${path}`, { method, body, headers, keepalive: false });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "no answer";
  }
}

async function reader(): Promise<void> {
  while (!isOver) {
    count(`read ${await ask("/v1/models")}`);
    await Bun.sleep(PAUSE_MS);
  }
}

/** Tries again at anything but an answer of 200, with the same Idempotency-Key. */
async function creator(): Promise<void> {
  while (!isOver) {
    const create = { method: "POST", body: JSON.stringify(IMAGE), id: crypto.randomUUID() };
    let tries = 0;
    while ((await ask("/v1/images/generations", create)) !== 200 && ++tries < RETRIES)
      await Bun.sleep(PAUSE_MS);
    count(tries < RETRIES ? "create done" : "create given up");
    if (tries > 0) count("create tried again");
    await Bun.sleep(PAUSE_MS);
  }
}

const callers = Array.from({ length: Number(values.callers) }, (_, i) =>
  i % 2 === 0 ? reader() : creator(),
);
for (let restarts = 0; restarts < Number(values.restarts); restarts++) {
  server.signal("SIGTERM");
  await server.exited;
  const endedAt = performance.now();
  server = await start(server.folder);
  longestOutageMs = Math.max(longestOutageMs, performance.now() - endedAt);
  await Bun.sleep(300);
}
isOver = true;
await Promise.all(callers);
process.stdout.write(
  `${JSON.stringify({ ...Object.fromEntries([...seen].sort()), longestOutageMs: Math.round(longestOutageMs) })}\n`,
);
await proxy?.stop();
await stopServers();
process.exit();
