import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { emptyFolder, type Server, startServer, stopServers } from "../helpers/server.ts";
import { canTrace } from "../torture/syscalls-killer.ts";

setDefaultTimeout(120_000);
afterEach(stopServers);

const DELAY_MICROS = 300_000;
const TRIES = 20;

/** Starts a server whose flushes of its log are tampered with, as `strace` is told. */
const tampering = (inject: string): Promise<Server> =>
  startServer({
    via: [
      "strace",
      "-D",
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-e",
      "trace=fdatasync",
      "-e",
      `inject=fdatasync:${inject}`,
    ],
  });

function createWith(server: Server): () => Promise<number> {
  const headers = { Authorization: `Bearer ${server.firstKey()}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ model: "sandbox-image", prompt: "a pear", size: "64x64" });
  const request = { method: "POST", headers, body };
  return async () => (await fetch(`${server.url}/v1/images/generations`, request)).status;
}

test.skipIf(!canTrace())("while a create waits for a slow disk, others are answered", async () => {
  const server = await tampering(`delay_enter=${DELAY_MICROS}`);
  const create = createWith(server);
  // The first creates wait in the event loop, until the thread that flushes has started.
  let answered = 0;
  for (let tries = 0; tries < TRIES && answered < 10; tries++) {
    answered = 0;
    let isStored = false;
    const storing = create().then((status) => {
      isStored = true;
      return status;
    });
    while (!isStored) {
      await (await fetch(`${server.url}/healthz`)).text();
      if (!isStored) answered += 1;
    }
    expect(await storing).toBe(200);
  }
  expect(answered).toBeGreaterThanOrEqual(10);
});

test.skipIf(!canTrace())(
  "a log that cannot be flushed ends the server, and nothing is said to be stored",
  async () => {
    const server = await startServer();
    const create = createWith(server);
    expect(await create()).toBe(200);
    const tracer = Bun.spawn(
      [
        "strace",
        "-f",
        "-o",
        "/dev/null",
        "-e",
        "trace=fdatasync",
        "-e",
        "inject=fdatasync:error=EIO",
        "-p",
        String(server.pid),
      ],
      { stdout: "ignore", stderr: "pipe", cwd: emptyFolder("tracer") },
    );
    await tracer.stderr.getReader().read();
    const statuses = await Promise.all(Array.from({ length: 8 }, () => create().catch(() => 0)));
    expect(statuses).not.toContain(200);
    expect(await server.exited).toBe(1);
    expect(server.stderr()).toContain("the database is damaged; stopping");
  },
);
