import type { Clock } from "../../domain/ports/runtime.ts";
import type { Renderer } from "../../studio/render.ts";
import { isShortage } from "../../toolkit/shortage.ts";
import { createSlots } from "../../toolkit/slots.ts";
import type { SandboxFiles } from "./files.ts";
import type { Job } from "./job-store.ts";
import { toRenderJob } from "./render-jobs.ts";
import { kindOf } from "./spec.ts";

type Order = Pick<Job, "id" | "spec">;

/** State of a job's rendering. */
export type Work =
  | {
      readonly kind: "rendering";
      readonly share: number;
      readonly elapsedMs: number;
      /** One of its outputs has had its turn. */
      readonly isUnderWay: boolean;
    }
  | { readonly kind: "rendered" }
  /** An input cannot be used; `message` is safe to show. */
  | { readonly kind: "refused"; readonly message: string }
  /** The renderer fails on this job every time. */
  | { readonly kind: "broken"; readonly error: Error }
  /** The disk refuses the outputs at present, or files or memory are short. */
  | { readonly kind: "unwritable"; readonly error: Error };

/** Renders jobs in the background, one output per slot at once. */
export interface Renderings {
  /** Renders the missing outputs, unless that is under way. @param isNew there cannot be any */
  begin(order: Order, isNew?: boolean): void;
  /** State of a job's rendering; undefined when it was not begun since the start, or was dropped. */
  look(id: string): Work | undefined;
  /** Resolves at the end of a rendering that is under way, after `limitMs` at the latest, and at once for any other. */
  ended(id: string, limitMs: number, signal: AbortSignal): Promise<void>;
  /** Stops rendering a job and forgets it. */
  drop(id: string): void;
  /** Renders one output now, if it is missing. @throws the error of the renderer or the disk */
  ensure(order: Order, index: number, signal: AbortSignal): Promise<void>;
  /** How long jobs of this kind took lately, waiting included. */
  expectedMs(kind: "image" | "video"): number;
  /** Resolves when nothing is being rendered. */
  idle(): Promise<void>;
}

type End = Exclude<Work, { kind: "rendering" }>;

interface Rendering {
  readonly order: Order;
  readonly controller: AbortController;
  /** By the clock that never jumps. */
  readonly startedAt: number;
  isUnderWay: boolean;
  done: number;
  end?: End;
  promise: Promise<void>;
}

/** Attempts at one output before the rendering counts as broken. A worker may have crashed because of another rendering. */
const TRIES = 3;

interface RenderingDeps {
  readonly renderer: Renderer;
  readonly files: SandboxFiles;
  readonly slots: number;
}

export function createRenderings(deps: RenderingDeps & { readonly clock: Clock }): Renderings {
  const { clock } = deps;
  const renderings = new Map<string, Rendering>();
  /** How those ended that nobody has dropped. A job may be asked for long after that, and the rest of it would fill the memory. */
  const ends = new Map<string, End>();
  const expected = { image: 60, video: 500 };

  const renderOutput = createOutputRenderer(deps);

  const work = async (rendering: Rendering, isNew: boolean): Promise<void> => {
    const isRendered = await renderAll(rendering, renderOutput, isNew);
    const { order, end } = rendering;
    // Not one that was dropped meanwhile.
    if (end !== undefined && renderings.get(order.id) === rendering) {
      renderings.delete(order.id);
      ends.set(order.id, end);
    }
    if (!isRendered) return;
    const kind = kindOf(order.spec);
    expected[kind] += (clock.elapsed() - rendering.startedAt - expected[kind]) / 4;
  };

  return {
    begin(order, isNew = false) {
      if (renderings.has(order.id) || ends.has(order.id)) return;
      const rendering = newRendering(order, clock.elapsed());
      renderings.set(order.id, rendering);
      rendering.promise = work(rendering, isNew);
    },
    look(id) {
      const rendering = renderings.get(id);
      if (rendering === undefined) return ends.get(id);
      const share = rendering.done / rendering.order.spec.outputs;
      const elapsedMs = clock.elapsed() - rendering.startedAt;
      return rendering.end ?? { kind: "rendering", share, elapsedMs, isUnderWay: rendering.isUnderWay };
    },
    drop(id) {
      const rendering = renderings.get(id);
      if (rendering?.end === undefined) rendering?.controller.abort();
      renderings.delete(id);
      ends.delete(id);
    },
    async ended(id, limitMs, signal) {
      const rendering = renderings.get(id);
      if (rendering?.isUnderWay !== true || rendering.end !== undefined) return;
      await endOrLimit(clock, rendering.promise, limitMs, signal);
    },
    ensure: (order, index, signal) => renderOutput(order, index, signal),
    expectedMs: (kind) => expected[kind],
    async idle() {
      await Promise.all([...renderings.values()].map((rendering) => rendering.promise));
    },
  };
}

function newRendering(order: Order, startedAt: number): Rendering {
  const controller = new AbortController();
  return { order, controller, startedAt, isUnderWay: false, done: 0, promise: Promise.resolve() };
}

/** Renders all outputs of a job. Sets its end, and waits for those under way after a failure. @returns whether all are rendered */
async function renderAll(
  rendering: Rendering,
  renderOutput: ReturnType<typeof createOutputRenderer>,
  isNew: boolean,
): Promise<boolean> {
  const { order, controller } = rendering;
  const onTurn = () => {
    rendering.isUnderWay = true;
  };
  const outputs = Array.from({ length: order.spec.outputs }, async (_, index) => {
    await renderOutput(order, index, controller.signal, { isNew, onTurn });
    rendering.done++;
  });
  try {
    await Promise.all(outputs);
    rendering.end = { kind: "rendered" };
    return true;
  } catch (error) {
    controller.abort();
    rendering.end = failure(error instanceof Error ? error : new Error(String(error)));
    // Outputs under way still write their files.
    await Promise.allSettled(outputs);
    return false;
  }
}

/** Waits for `end`, for `limitMs` at the latest. @throws the signal's reason when it aborts */
async function endOrLimit(
  clock: Clock,
  end: Promise<void>,
  limitMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(limitMs, resolve);
  const onAbort = () => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  await Promise.race([end, promise]);
  signal.removeEventListener("abort", onAbort);
  cancel();
  signal.throwIfAborted();
}

interface Turn {
  /** There cannot be an output yet. */
  readonly isNew?: boolean;
  /** Called when the output has its slot. */
  readonly onTurn?: () => void;
}

/** Returns a function that renders and writes an output that is missing, as many at once as there are slots. */
function createOutputRenderer({ renderer, files, ...deps }: RenderingDeps) {
  const slots = createSlots(deps.slots);
  return async (
    { id, spec }: Order,
    index: number,
    signal: AbortSignal,
    { isNew = false, onTurn }: Turn = {},
  ) => {
    if (!isNew && (await files.hasOutput(id, index))) return;
    await slots.run(async () => {
      onTurn?.();
      signal.throwIfAborted();
      const inputs = await files.readInputs({ id, spec });
      const { bytes } = await persist(
        () => renderer.render(toRenderJob(spec, index, inputs), signal),
        signal,
      );
      await files
        .writeOutput(id, index, bytes)
        .catch((error: Error) => Promise.reject(new Unwritable(error)));
    });
  };
}

class Unwritable extends Error {
  constructor(override readonly cause: Error) {
    super(cause.message);
  }
}

function failure(error: Error): End {
  if (error instanceof Unwritable) return { kind: "unwritable", error: error.cause };
  if (isShortage(error)) return { kind: "unwritable", error };
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
