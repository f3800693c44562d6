/*
 * The load generator, a process of its own: raw sockets with keep-alive, requests built beforehand, answers only counted.
 * Takes plans from its parent one after the other.
 */
import type { Socket } from "bun";
import { type LoadAnswer, type LoadPlan, type LoadResult, UNIQUE } from "./plan.ts";
import { createResponseReader } from "./response-reader.ts";

interface Connection {
  sentAt: number;
  /** What the kernel did not take yet. */
  unsent: Buffer | undefined;
  readonly read: (chunk: Buffer) => void;
}

interface Prepared {
  readonly bytes: Buffer;
  /** Where to write what makes the request unique. */
  readonly uniqueAt: readonly number[];
}

let uniqueCount = Math.floor(Math.random() * 1e9) * 1e6;

async function run(plan: LoadPlan): Promise<LoadResult> {
  const requests = plan.requests.map(prepare);
  const answer = plan.answer ?? { status: 200, hasBody: true };
  const latencies: number[] = [];
  const { promise: over, resolve: end, reject: fail } = Promise.withResolvers<void>();
  let sent = 0;
  let refused = 0;
  let firstRefusal: string | undefined;
  let bytes = 0;
  let deadline = Number.POSITIVE_INFINITY;
  let isOver = false;
  const wanted = plan.until.kind === "responses" ? plan.until.count : Number.POSITIVE_INFINITY;

  function sendNext(socket: Socket<Connection>, now: number): void {
    if (sent >= wanted || now >= deadline) {
      if (latencies.length === sent) finish();
      return;
    }
    const request = requests[sent % requests.length] as Prepared;
    sent += 1;
    for (const at of request.uniqueAt) request.bytes.write(unique(), at, "latin1");
    socket.data.sentAt = now;
    const taken = socket.write(request.bytes);
    if (taken < request.bytes.length)
      socket.data.unsent = Buffer.from(request.bytes.subarray(Math.max(0, taken)));
  }

  function finish(): void {
    isOver = true;
    end();
  }

  const sockets: Socket<Connection>[] = [];
  for (let i = 0; i < plan.connections; i++) {
    const socket: Socket<Connection> = await Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port: plan.port,
      data: {
        sentAt: 0,
        unsent: undefined,
        read: createResponseReader(answer.hasBody, (status, head) => {
          const now = performance.now();
          latencies.push(now - socket.data.sentAt);
          if (status !== answer.status) {
            refused += 1;
            firstRefusal ??= head.split("\r\n", 1)[0];
          }
          sendNext(socket, now);
        }),
      },
      socket: {
        data(self, chunk) {
          bytes += chunk.length;
          try {
            self.data.read(chunk);
          } catch (error) {
            fail(error);
          }
        },
        drain(self) {
          const { unsent } = self.data;
          if (unsent === undefined) return;
          const taken = self.write(unsent);
          self.data.unsent = taken < unsent.length ? unsent.subarray(Math.max(0, taken)) : undefined;
        },
        close() {
          if (!isOver) fail(new Error("The server closed a connection."));
        },
        error: (_, error) => fail(error),
      },
    });
    sockets.push(socket);
  }

  const startedAt = performance.now();
  if (plan.until.kind === "time") deadline = startedAt + plan.until.ms;
  for (const socket of sockets) sendNext(socket, startedAt);
  await over;
  const elapsedMs = performance.now() - startedAt;
  for (const socket of sockets) socket.end();
  latencies.sort((a, b) => a - b);
  const percentile = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return {
    responses: latencies.length,
    refused,
    firstRefusal,
    elapsedMs,
    bytes,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
  };
}

function prepare(text: string): Prepared {
  const uniqueAt: number[] = [];
  const bytes = Buffer.from(text);
  for (let at = bytes.indexOf(UNIQUE); at !== -1; at = bytes.indexOf(UNIQUE, at + 1)) uniqueAt.push(at);
  return { bytes, uniqueAt };
}

function unique(): string {
  uniqueCount += 1;
  return String(uniqueCount).padStart(UNIQUE.length, "0");
}

process.on("message", (plan: LoadPlan) => {
  const answer = (message: LoadAnswer) => process.send?.(message);
  run(plan).then(
    (result) => answer({ kind: "result", result }),
    (error: unknown) => answer({ kind: "failure", message: String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
