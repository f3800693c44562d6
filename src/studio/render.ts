import { InputInvalidError, type Rendered, type RenderJob } from "./render-job.ts";
import { renderAtOnce } from "./swatch.ts";

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

export interface Renderer {
  /**
   * Renders outside the calling thread, in the order of the jobs; large jobs run one at a time. A job that takes less time than the
   * way to a thread is rendered at once.
   *
   * @throws InputInvalidError (`code: "INPUT_INVALID"`) when the job's media cannot be used
   * @throws the signal's reason, at once, when it aborts; any other Error when the worker broke
   */
  render(job: RenderJob, signal: AbortSignal): Promise<Rendered>;
  /** Rejects waiting and running jobs and ends the workers. Idempotent. */
  stop(): Promise<void>;
}

interface Ticket {
  readonly order: WorkOrder;
  readonly settle: (result: Rendered | Error) => void;
}

/** A job of more pixels takes several hundred megabytes. */
const LARGE_PIXELS = 8_000_000;
const MOST_PIXELS = 4096 * 4096;
/** How long a thread is kept after a large job: its end gives the memory back. */
const LARGE_IDLE_MS = 1_000;

function isLarge({ order: { job } }: Ticket): boolean {
  if (job.kind === "video") return false;
  if (job.kind === "enlarge")
    return (job.inputPixels ?? MOST_PIXELS) * job.factor * job.factor > LARGE_PIXELS;
  if (job.width !== undefined && job.height !== undefined) return job.width * job.height > LARGE_PIXELS;
  const { within = Number.POSITIVE_INFINITY, inputPixels = MOST_PIXELS } = job.kind === "edit" ? job : {};
  return Math.min(within * within, inputPixels) > LARGE_PIXELS;
}

interface Seat {
  readonly worker: Worker;
  ticket?: Ticket | undefined;
  /** Ends an idle thread, or one that goes on with a job that nobody wants. */
  endTimer?: Timer | undefined;
}

interface Options {
  /** Threads, 2 unless given. */
  readonly workers?: number;
  /** How long a thread without a job is kept, 30 s unless given. */
  readonly idleMs?: number;
  /** How long a running job may take to give up at the stop, a second unless given. */
  readonly stopGraceMs?: number;
  /** How long a job that was cancelled may go on before its thread is replaced, 30 s unless given. */
  readonly abandonedMs?: number;
  /** The module a thread runs; another one in tests. */
  readonly workerEntry?: string;
}

/**
 * The offline renderer: a few worker threads, one job each. Starts and loads nothing before the first job; equal jobs give
 * equal bytes. Idle threads do not keep the process alive and end after a while. The next job replaces a thread that broke, and one that
 * does not give up a cancelled job.
 */
export function createRenderer(options: Options = {}): Renderer {
  const queue: Ticket[] = [];
  const seats = createSeats(options, () => advance());
  let stopped = false;

  function advance(): void {
    while (!stopped) {
      const place = queue.findIndex((ticket) => seats.mayTake(ticket));
      const seat = place === -1 ? undefined : seats.free();
      const [ticket] = seat === undefined ? [] : queue.splice(place, 1);
      if (seat === undefined || ticket === undefined) return;
      seats.occupy(seat, ticket);
    }
  }

  return {
    render: (job, signal) =>
      new Promise((resolve, reject) => {
        if (stopped) return reject(new Error("The sandbox renderer is stopped."));
        if (signal.aborted) return reject(signal.reason);
        const rendered = renderAtOnce(job);
        if (rendered !== undefined) return resolve(rendered);
        const cancelled = new Int32Array(new SharedArrayBuffer(4));
        const onAbort = (): void => {
          const place = queue.indexOf(ticket);
          if (place >= 0) queue.splice(place, 1);
          // A running video stops at its next frame; the worker stays.
          Atomics.store(cancelled, 0, 1);
          seats.abandon(ticket);
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
      await seats.stop(reason);
    },
  };
}

const defaults = () => ({
  ...{ workers: 2, idleMs: 30_000, abandonedMs: 30_000, stopGraceMs: 1_000 },
  workerEntry: defaultEntry(),
});

/** The threads; `onFree` is called when one has become free, or may be replaced. */
function createSeats(options: Options, onFree: () => void) {
  const { workers, idleMs, abandonedMs, stopGraceMs, workerEntry } = { ...defaults(), ...options };
  const seats = new Set<Seat>();

  function leave(seat: Seat): void {
    clearTimeout(seat.endTimer);
    seats.delete(seat);
    seat.worker.terminate();
  }

  function rest(seat: Seat): void {
    endAfter(seat, hasLarge(seat) ? Math.min(idleMs, LARGE_IDLE_MS) : idleMs, () => leave(seat));
    seat.ticket = undefined;
    // An idle worker must not keep the process alive.
    seat.worker.unref();
    onFree();
  }

  function breakDown(seat: Seat, message: string): void {
    if (!seats.has(seat)) return;
    leave(seat);
    seat.ticket?.settle(new Error(`The sandbox renderer's worker broke: ${message}`));
    onFree();
  }

  function hire(): Seat {
    const seat: Seat = { worker: new Worker(workerEntry, { name: "sandbox-renderer" }) };
    listen(seat, {
      onResult(result) {
        if (seat.ticket === undefined || !seats.has(seat)) return;
        seat.ticket.settle(readResult(result));
        rest(seat);
      },
      onBreak: (message) => breakDown(seat, message),
    });
    seats.add(seat);
    return seat;
  }

  return {
    mayTake: (ticket: Ticket) => !isLarge(ticket) || ![...seats].some(hasLarge),
    free: () =>
      [...seats].find(({ ticket }) => ticket === undefined) ?? (seats.size < workers ? hire() : undefined),
    occupy(seat: Seat, ticket: Ticket): void {
      clearTimeout(seat.endTimer);
      seat.ticket = ticket;
      seat.worker.ref();
      seat.worker.postMessage(ticket.order);
    },
    /** Nobody wants this job any more. A worker that does not answer would keep its seat from all others. */
    abandon(ticket: Ticket): void {
      const seat = [...seats].find((each) => each.ticket === ticket);
      if (seat !== undefined) endAfter(seat, abandonedMs, () => breakDown(seat, "it does not give up"));
    },
    async stop(reason: Error): Promise<void> {
      await abandonAll(seats, reason, stopGraceMs);
      for (const seat of [...seats]) leave(seat);
    },
  };
}

function endAfter(seat: Seat, delayMs: number, end: () => void): void {
  clearTimeout(seat.endTimer);
  seat.endTimer = setTimeout(end, delayMs);
  seat.endTimer.unref();
}

const hasLarge = ({ ticket }: Seat) => ticket !== undefined && isLarge(ticket);

async function abandonAll(seats: Iterable<Seat>, reason: Error, graceMs: number): Promise<void> {
  const busy = [...seats].filter((seat) => seat.ticket !== undefined);
  for (const { ticket } of busy) if (ticket !== undefined) abandon(ticket, reason);
  // Let native code finish: ending a thread in the middle of it can crash the process.
  await Promise.race([Promise.all(busy.map(({ worker }) => answered(worker))), Bun.sleep(graceMs)]);
}

function abandon({ order, settle }: Ticket, reason: Error): void {
  Atomics.store(order.cancelled, 0, 1);
  settle(reason);
}

function listen(
  { worker }: Seat,
  { onResult, onBreak }: { onResult: (result: WorkResult) => void; onBreak: (message: string) => void },
): void {
  worker.addEventListener("message", (event: MessageEvent<WorkResult>) => onResult(event.data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    onBreak(event.message);
  });
  worker.addEventListener("close", () => onBreak("it ended by itself"));
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

/** In a compiled executable the worker is a separate entry point, found by its path from the project's root. */
function defaultEntry(): string {
  return Bun.isStandaloneExecutable ? "./src/studio/worker.ts" : new URL("./worker.ts", import.meta.url).href;
}
