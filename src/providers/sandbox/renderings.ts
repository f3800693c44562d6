import type { Clock } from "../../domain/ports/runtime.ts";
import type { Renderer } from "../../studio/render.ts";
import type { SandboxFiles } from "./files.ts";
import { toJob } from "./jobs.ts";
import { createSlots } from "./slots.ts";
import { kindOf } from "./spec.ts";
import type { Operation } from "./upstream.ts";

type Order = Pick<Operation, "id" | "spec">;

/** State of an operation's rendering. */
export type Work =
  | { readonly kind: "rendering"; readonly share: number; readonly elapsedMs: number }
  | { readonly kind: "rendered" }
  /** An input cannot be used; `message` is safe to show. */
  | { readonly kind: "refused"; readonly message: string }
  /** The renderer fails on this job every time. */
  | { readonly kind: "broken"; readonly error: Error }
  /** The disk refuses the outputs at present. */
  | { readonly kind: "unwritable"; readonly error: Error };

/** Renders operations in the background, one output per slot at once. */
export interface Studio {
  /** Renders the missing outputs, unless that is under way. */
  begin(order: Order): void;
  /** State of an operation's rendering; undefined when it was not begun since the start, or was dropped. */
  look(id: string): Work | undefined;
  /** Stops rendering an operation and forgets it. */
  drop(id: string): void;
  /** Renders one output now, if it is missing. @throws the error of the renderer or the disk */
  ensure(order: Order, index: number, signal: AbortSignal): Promise<void>;
  /** How long operations of this kind took lately, waiting included. */
  expectedMs(kind: "image" | "video"): number;
  /** Resolves when nothing is being rendered. */
  idle(): Promise<void>;
}

interface Job {
  readonly order: Order;
  readonly controller: AbortController;
  readonly startedAt: number;
  done: number;
  end?: Exclude<Work, { kind: "rendering" }>;
  promise: Promise<void>;
}

/** Attempts at one output before the job counts as broken. A worker may have crashed because of another job. */
const TRIES = 3;

export function createStudio(deps: {
  readonly renderer: Renderer;
  readonly files: SandboxFiles;
  readonly clock: Clock;
  readonly slots: number;
}): Studio {
  const { renderer, files, clock } = deps;
  const jobs = new Map<string, Job>();
  const slots = createSlots(deps.slots);
  const expected = { image: 60, video: 500 };

  const renderOutput = async ({ id, spec }: Order, index: number, signal: AbortSignal): Promise<void> => {
    if (await files.hasOutput(id, index)) return;
    await slots.run(async () => {
      signal.throwIfAborted();
      const inputs = await files.readInputs({ id, spec });
      const { bytes } = await persist(() => renderer.render(toJob(spec, index, inputs), signal), signal);
      await files
        .writeOutput(id, index, bytes)
        .catch((error: Error) => Promise.reject(new Unwritable(error)));
    });
  };

  const work = async (job: Job): Promise<void> => {
    const { order, controller } = job;
    const outputs = Array.from({ length: order.spec.outputs }, async (_, index) => {
      await renderOutput(order, index, controller.signal);
      job.done++;
    });
    try {
      await Promise.all(outputs);
      job.end = { kind: "rendered" };
      const kind = kindOf(order.spec);
      expected[kind] += (clock.now() - job.startedAt - expected[kind]) / 4;
    } catch (error) {
      controller.abort();
      job.end = failure(error instanceof Error ? error : new Error(String(error)));
    }
    // Outputs under way still write their files.
    await Promise.allSettled(outputs);
  };

  return {
    begin(order) {
      if (jobs.has(order.id)) return;
      const controller = new AbortController();
      const job: Job = { order, controller, startedAt: clock.now(), done: 0, promise: Promise.resolve() };
      jobs.set(order.id, job);
      job.promise = work(job);
    },
    look(id) {
      const job = jobs.get(id);
      if (job === undefined) return undefined;
      const share = job.done / job.order.spec.outputs;
      return job.end ?? { kind: "rendering", share, elapsedMs: clock.now() - job.startedAt };
    },
    drop(id) {
      jobs.get(id)?.controller.abort();
      jobs.delete(id);
    },
    ensure: renderOutput,
    expectedMs: (kind) => expected[kind],
    async idle() {
      await Promise.all([...jobs.values()].map((job) => job.promise));
    },
  };
}

class Unwritable extends Error {
  constructor(override readonly cause: Error) {
    super(cause.message);
  }
}

function failure(error: Error): Exclude<Work, { kind: "rendering" }> {
  if (error instanceof Unwritable) return { kind: "unwritable", error: error.cause };
  return isRefusal(error) ? { kind: "refused", message: error.message } : { kind: "broken", error };
}

/** The renderer's error for an unusable input. */
function isRefusal(error: Error): boolean {
  return "code" in error && error.code === "INPUT_INVALID";
}

async function persist<T>(render: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await render();
    } catch (error) {
      if (signal.aborted || tries === TRIES || (error instanceof Error && isRefusal(error))) throw error;
    }
  }
}
