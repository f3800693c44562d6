import { readFileSync } from "node:fs";
import type { Server } from "../../helpers/server.ts";

/** Machines whose processors others use take up to a third longer now and then. */
const TRIES = 6;

/** What a probe tells when it has stopped. */
export interface Held {
  /** The most processor time that the server's main thread used between two answers to the probe. */
  readonly heldMs: number;
  readonly answers: number;
}

/**
 * Asks a server for its health again and again, from a thread of its own, while `work` runs. Whatever holds the server's event loop
 * keeps it from answering. Time on the processor is measured, because other processes may hold the machine.
 */
async function whileProbed<T>(
  server: Server,
  work: () => Promise<T>,
): Promise<Held & { readonly result: T }> {
  const worker = new Worker(new URL("./loop-probe-worker.ts", import.meta.url).href);
  const said = () =>
    new Promise<Held>((resolve) => {
      worker.addEventListener("message", (event: MessageEvent<Held>) => resolve(event.data), { once: true });
    });
  try {
    const ready = said();
    worker.postMessage({ port: server.port, pid: server.pid });
    await ready;
    const result = await work();
    const held = said();
    worker.postMessage("stop");
    return { ...(await held), result };
  } finally {
    worker.terminate();
  }
}

/** The lowest of a few tries: other work of the server, such as collecting garbage, comes now and then. The first below `enoughMs` is the last. */
export async function leastHeldMs(
  server: Server,
  work: () => Promise<unknown>,
  enoughMs: number,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES && least >= enoughMs; i++)
    least = Math.min(least, (await whileProbed(server, work)).heldMs);
  return least;
}

/** Processor time of a process's main thread. */
export function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}
