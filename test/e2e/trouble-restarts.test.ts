import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { startServer, stopServers } from "../helpers/server.ts";
import { type Outcome, openPersistentClient } from "./support/persistent-client.ts";

setDefaultTimeout(120_000);
afterEach(stopServers);

const CLIENTS = 6;
const RESTARTS = 3;

function requestOf(line: string, key: string, body = ""): string {
  const headers = ["Host: a", `Authorization: Bearer ${key}`, "Content-Type: application/json"];
  return `${line} HTTP/1.1\r\n${headers.join("\r\n")}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const create = (key: string) =>
  requestOf(
    "POST /v1/images/generations",
    key,
    JSON.stringify({ model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { outcome: "hang" } }),
  );

test("SIGTERM is told by readiness and by every answer before the listener closes", async () => {
  const server = await startServer();
  const key = server.firstKey();
  const [waiting, asking] = [openPersistentClient(server.port), openPersistentClient(server.port)];
  expect(await waiting.send(create(key))).toEqual({ status: 200, isLast: false });
  server.signal("SIGTERM");
  let readiness: Outcome = { status: 200, isLast: false };
  while (typeof readiness === "object" && readiness.status === 200) {
    readiness = await asking.send(requestOf("GET /readyz", key));
  }
  expect(readiness).toEqual({ status: 503, isLast: true });
  // The connection was open before, the next one is new.
  expect(await waiting.send(create(key))).toEqual({ status: 503, isLast: true });
  expect(await waiting.send(requestOf("GET /v1/models", key))).toEqual({ status: 200, isLast: true });
  expect(await server.exited).toBe(0);
  expect(await waiting.send(create(key))).toBe("refused");
});

test("SIGTERM a second time ends the process without the rest of its second", async () => {
  const server = await startServer();
  // A body that never comes whole holds up an orderly end by seconds, so that the second signal comes before it on any machine.
  const half = await Bun.connect({ hostname: "127.0.0.1", port: server.port, socket: { data() {} } });
  half.write(create(server.firstKey()).slice(0, -1));
  await fetch(`${server.url}/readyz`);
  server.signal("SIGTERM");
  await server.says(/"msg":"stopping"/);
  server.signal("SIGTERM");
  expect(await server.exited).toBe(143);
  half.end();
});

test("clients that create across restarts lose no connection", async () => {
  let server = await startServer();
  const { folder, port } = server;
  const key = server.firstKey();
  const outcomes: Outcome[] = [];
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async (_, i) => {
    const client = openPersistentClient(port);
    while (!isOver) {
      const outcome = await client.send(create(key));
      outcomes.push(outcome);
      // One that was refused comes again a little later, as clients do.
      await Bun.sleep(typeof outcome === "object" && outcome.status === 200 ? i : 100);
    }
    client.close();
  });
  for (let i = 0; i < RESTARTS; i++) {
    const seen = outcomes.length;
    while (outcomes.length < seen + 100) await Bun.sleep(5);
    server.signal("SIGTERM");
    expect(await server.exited).toBe(0);
    server = await startServer({ folder, port });
  }
  isOver = true;
  await Promise.all(clients);
  expect(outcomes.filter((outcome) => outcome === "lost")).toEqual([]);
  const statuses = new Set(
    outcomes.flatMap((outcome) => (typeof outcome === "object" ? [outcome.status] : [])),
  );
  expect([...statuses].sort()).toEqual([200, 503]);
});
