import { InputInvalidError } from "./input-error.ts";
import type { Rendered, RenderJob } from "./render-job.ts";

/** The pool's message: one job, and a flag in shared memory that turns non-zero when the job is cancelled. */
export interface WorkOrder {
  readonly job: RenderJob;
  readonly cancelled: Int32Array;
}

/** A worker's answer, exactly one for each order. */
export type WorkResult =
  | { readonly kind: "done"; readonly rendered: Rendered }
  | { readonly kind: "input_invalid"; readonly message: string }
  | { readonly kind: "broken"; readonly message: string };

export interface Pool {
  run(job: RenderJob, signal: AbortSignal): Promise<Rendered>;
  stop(): Promise<void>;
}

interface Ticket {
  readonly order: WorkOrder;
  readonly settle: (result: Rendered | Error) => void;
}

interface Seat {
  readonly worker: Worker;
  ticket?: Ticket | undefined;
  idleTimer?: Timer | undefined;
}

const STOP_GRACE_MS = 1_000;

/** A few worker threads, started when needed, one job each. The next job replaces a thread that broke. */
export function createPool(options: { size: number; idleMs: number; entry: string }): Pool {
  const seats = new Set<Seat>();
  const queue: Ticket[] = [];
  let stopped = false;

  const leave = (seat: Seat): void => {
    clearTimeout(seat.idleTimer);
    seats.delete(seat);
    seat.worker.terminate();
  };

  const rest = (seat: Seat): void => {
    seat.ticket = undefined;
    // An idle worker must not keep the process alive.
    seat.worker.unref();
    seat.idleTimer = setTimeout(() => leave(seat), options.idleMs);
    seat.idleTimer.unref();
    advance();
  };

  const breakDown = (seat: Seat, message: string): void => {
    if (!seats.has(seat)) return;
    const { ticket } = seat;
    leave(seat);
    ticket?.settle(new Error(`The sandbox renderer's worker broke: ${message}`));
    advance();
  };

  const hire = (): Seat => {
    const worker = new Worker(options.entry, { name: "sandbox-renderer" });
    const seat: Seat = { worker };
    worker.addEventListener("message", (event: MessageEvent<WorkResult>) => {
      const { ticket } = seat;
      if (ticket === undefined || !seats.has(seat)) return;
      ticket.settle(readResult(event.data));
      rest(seat);
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      breakDown(seat, event.message);
    });
    worker.addEventListener("close", () => breakDown(seat, "it ended by itself"));
    seats.add(seat);
    return seat;
  };

  const advance = (): void => {
    while (!stopped && queue.length > 0) {
      const seat =
        [...seats].find((candidate) => candidate.ticket === undefined) ??
        (seats.size < options.size ? hire() : undefined);
      const ticket = seat === undefined ? undefined : queue.shift();
      if (seat === undefined || ticket === undefined) return;
      clearTimeout(seat.idleTimer);
      seat.ticket = ticket;
      seat.worker.ref();
      seat.worker.postMessage(ticket.order);
    }
  };

  return {
    run: (job, signal) =>
      new Promise((resolve, reject) => {
        if (stopped) return reject(new Error("The sandbox renderer is stopped."));
        if (signal.aborted) return reject(signal.reason);
        const cancelled = new Int32Array(new SharedArrayBuffer(4));
        const onAbort = (): void => {
          const place = queue.indexOf(ticket);
          if (place >= 0) queue.splice(place, 1);
          // A running video stops at its next frame; the worker stays.
          Atomics.store(cancelled, 0, 1);
          reject(signal.reason);
        };
        const ticket: Ticket = {
          order: { job, cancelled },
          settle: (result) => {
            signal.removeEventListener("abort", onAbort);
            if (result instanceof Error) reject(result);
            else resolve(result);
          },
        };
        signal.addEventListener("abort", onAbort, { once: true });
        queue.push(ticket);
        advance();
      }),
    stop: async () => {
      stopped = true;
      const reason = new Error("The sandbox renderer is stopped.");
      for (const ticket of queue.splice(0)) ticket.settle(reason);
      const busy = [...seats].filter((seat) => seat.ticket !== undefined);
      for (const { ticket } of busy) {
        if (ticket === undefined) continue;
        Atomics.store(ticket.order.cancelled, 0, 1);
        ticket.settle(reason);
      }
      // Let native code finish: ending a thread in the middle of it can crash the process.
      await Promise.race([Promise.all(busy.map(({ worker }) => answered(worker))), Bun.sleep(STOP_GRACE_MS)]);
      for (const seat of [...seats]) leave(seat);
    },
  };
}

function answered(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    for (const type of ["message", "error", "close"] as const) {
      worker.addEventListener(type, () => resolve(), { once: true });
    }
  });
}

function readResult(result: WorkResult): Rendered | Error {
  switch (result.kind) {
    case "done":
      return result.rendered;
    case "input_invalid":
      return new InputInvalidError(result.message);
    case "broken":
      return new Error(`The sandbox could not render: ${result.message}`);
  }
}
