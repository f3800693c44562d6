import { taskError } from "../../domain/errors.ts";
import { MAX_INPUT_BYTES } from "../../domain/limits.ts";
import type { Asset, MediaKind, StoredFile } from "../../domain/media/asset.ts";
import { maskProblem, OPAQUE_MASK } from "../../domain/media/mask.ts";
import { MediaError, type PutOptions } from "../../domain/ports/asset-store.ts";
import { EgressError } from "../../domain/ports/egress.ts";
import type { InputFile, MaskPaint } from "../../domain/ports/provider.ts";
import type { GenerationRequest, MediaInput } from "../../domain/task/request.ts";
import { inputsReady } from "../../domain/task/transition.ts";
import { SETTLED, type Step, type StepDeps, type StepResult } from "../step.ts";
import { storeFile } from "./store-file.ts";

/** How often a remote input is fetched when the failure is transient. */
const FETCH_TRIES = 3;

/**
 * Fetches the inputs that are still addresses, stores them, and commits the request that names assets instead. The task then waits for a
 * place of its lane, since it had none. Ends the task if an input cannot be fetched.
 */
export async function fetchInputs(step: Step): Promise<StepResult> {
  const { deps, task, signal } = step;
  const assets: Asset[] = [];
  const inputs: MediaInput[] = [];
  const wish = cancelWish(step);
  const either = AbortSignal.any([signal, wish.signal]);
  let [param, problem]: [string, string | undefined] = ["", undefined];
  try {
    for (const [index, input] of task.request.inputs.entries()) {
      if (input.source.kind === "asset") {
        inputs.push(input);
        continue;
      }
      param = input.param;
      const accept = mediaKindOf(input);
      const maxBytes = MAX_INPUT_BYTES[accept];
      const source = await deps.egress.fetchMedia(input.source.url, { maxBytes, signal: either });
      const file = await storeInput(step, input, source, { accept: [accept], maxBytes, sanitize: true });
      const asset = step.asset(file, { role: "input", index, createdAt: deps.clock.now() });
      assets.push(asset);
      const { role } = input;
      inputs.push({ role, param, source: { kind: "asset", assetId: asset.id } });
    }
    param = task.request.inputs.find(({ role }) => role === "mask")?.param ?? param;
    problem = await fetchedMaskProblem(deps, { asked: task.request.inputs, inputs, fetched: assets });
  } catch (error) {
    if (signal.aborted) return SETTLED;
    return wish.signal.aborted ? step.cancel() : inputTrouble(step, param, error);
  } finally {
    wish.stop();
  }
  if (problem !== undefined) return step.fail(taskError("INPUT_INVALID", problem));
  const request: GenerationRequest = { ...task.request, inputs };
  return step.settle(inputsReady(deps.clock.now(), request, assets));
}

/**
 * A signal that aborts when a cancel of the task is requested. News of a task alone do not say so: another node tells late of changes
 * from before the lease, such as that the task is stored.
 */
function cancelWish({ deps, task: { id } }: Step): {
  readonly signal: AbortSignal;
  readonly stop: () => void;
} {
  const wish = new AbortController();
  async function look(): Promise<void> {
    const task = await deps.tasks.summary(id);
    if (task?.cancelRequested === true) wish.abort(new Error("The task was cancelled."));
  }
  // A cancel that could not be read is found when the attempt begins.
  const stop = deps.feed.subscribe(id, () => void look().catch(() => {}));
  return { signal: wish.signal, stop };
}

/** Stores an input. For a mask that may be painted, stores the mask that it stands for. @throws like `storeFile` */
async function storeInput(
  step: Step,
  { mayBePainted }: MediaInput,
  source: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<StoredFile> {
  if (mayBePainted !== true) return storeFile(step, source, options);
  const { assets } = step.deps;
  const { accountId: owner } = step.task;
  // The sender may reuse a piece as soon as the next one is requested.
  const picture = new Blob(await Array.fromAsync(source, (piece) => piece.slice()));
  const bytes = await picture.bytes();
  // Its size is checked before the whole mask is decoded.
  const checked = await assets.stage(bytes, { ...options, owner });
  await checked.release(false);
  return storeFile(step, (await assets.maskOfOpaque(picture, owner)) ?? bytes, options);
}

/** Ends a task whose input cannot be used, or tries again if the problem may be temporary. */
function inputTrouble(step: Step, param: string, error: unknown): Promise<StepResult> {
  if (error instanceof MediaError) return step.fail(taskError("INPUT_INVALID", `${param} ${error.message}`));
  if (!(error instanceof EgressError)) throw error;
  const mayPass = error.reason === "unreachable" || error.reason === "timeout";
  if (mayPass && step.task.failures + 1 < FETCH_TRIES) return step.retryLater();
  return step.fail(taskError("INPUT_UNREACHABLE", `${param} ${error.message}`));
}

/** Checks a mask that could not be checked at creation, because mask or image was still an address. */
async function fetchedMaskProblem(
  deps: StepDeps,
  {
    asked,
    inputs,
    fetched,
  }: {
    readonly asked: readonly MediaInput[];
    readonly inputs: readonly MediaInput[];
    readonly fetched: readonly Asset[];
  },
): Promise<string | undefined> {
  const fileOf = async (input: MediaInput | undefined) => {
    if (input?.source.kind !== "asset") return undefined;
    const { assetId } = input.source;
    return fetched.find((asset) => asset.id === assetId) ?? deps.tasks.assetById(assetId);
  };
  const at = inputs.findIndex((input) => input.role === "mask");
  const mask = inputs[at];
  const file = await fileOf(mask);
  if (mask === undefined || file === undefined) return undefined;
  const problem = maskProblem(file, await fileOf(inputs.find((input) => input.role === "image")));
  if (problem !== undefined) return `${mask.param} ${problem}.`;
  const isNew = asked[at]?.source.kind === "url" && asked[at].mayBePainted !== true;
  const content = isNew ? await deps.assets.open(file) : undefined;
  const isOpaque =
    content !== undefined && (await deps.assets.maskOfOpaque(content, file.accountId)) !== undefined;
  return isOpaque ? `${mask.param} ${OPAQUE_MASK}.` : undefined;
}

function mediaKindOf(input: MediaInput): MediaKind {
  if (input.role === "audio") return "audio";
  return input.role === "video" || input.role === "motion" ? "video" : "image";
}

/**
 * The stored files of a request whose inputs are all assets, in order, for an attempt that started at a time; or the field of a
 * missing file.
 */
export async function openInputs(
  deps: Pick<StepDeps, "tasks" | "assets" | "inputUrl">,
  request: GenerationRequest,
  startedAt: number,
): Promise<InputFile[] | { missing: string }> {
  const { assets, inputUrl } = deps;
  const files: InputFile[] = [];
  for (const input of request.inputs) {
    const asset =
      input.source.kind === "asset" ? await deps.tasks.assetById(input.source.assetId) : undefined;
    const content = asset && (await assets.open(asset));
    if (asset === undefined || content === undefined) return { missing: input.param };
    const { accountId, sha256, sizeBytes, type, width, height, durationMs } = asset;
    const url = inputUrl && (() => inputUrl(asset, startedAt));
    const { role } = input;
    const painted =
      role === "mask" ? (paint: MaskPaint) => assets.paintMask(content, paint, accountId) : undefined;
    files.push({ role, content, painted, url, sha256, sizeBytes, type, width, height, durationMs });
  }
  return files;
}
