import { type TaskError, taskError } from "../../domain/errors.ts";
import { MAX_INPUT_BYTES } from "../../domain/limits.ts";
import type { Asset, MediaKind } from "../../domain/media/asset.ts";
import { maskProblem } from "../../domain/media/mask.ts";
import { MediaError } from "../../domain/ports/asset-store.ts";
import { EgressError } from "../../domain/ports/egress.ts";
import type { InputFile } from "../../domain/ports/provider.ts";
import type { GenerationRequest, MediaInput } from "../../domain/task/request.ts";
import type { Lease } from "../../domain/task/task.ts";
import { cancelled, inputsReady } from "../../domain/task/transition.ts";
import {
  commit,
  retryLater,
  SETTLED,
  type StepDeps,
  type StepResult,
  settle,
  settleFailed,
} from "../context.ts";

/** How often a remote input is fetched when the failure is transient. */
const FETCH_TRIES = 3;

/**
 * Fetches the inputs that are still addresses, stores them, and commits the request that names assets instead. Ends the task if
 * an input cannot be fetched.
 */
export async function fetchInputs(deps: StepDeps, lease: Lease, signal: AbortSignal): Promise<StepResult> {
  const { task } = lease;
  const assets: Asset[] = [];
  const inputs: MediaInput[] = [];
  // While its inputs are fetched, only a cancel can change a leased task.
  const wish = new AbortController();
  const unsubscribe = deps.feed.subscribe(task.id, () => wish.abort(new Error("The task was cancelled.")));
  const either = AbortSignal.any([signal, wish.signal]);
  try {
    for (const [index, input] of task.request.inputs.entries()) {
      if (input.source.kind === "asset") {
        inputs.push(input);
        continue;
      }
      const asset = await fetchInput(deps, lease, { input, index, url: input.source.url }, either);
      assets.push(asset);
      inputs.push({ ...input, source: { kind: "asset", assetId: asset.id } });
    }
  } catch (error) {
    if (signal.aborted) return SETTLED;
    if (wish.signal.aborted) return settle(deps, lease, cancelled(task, deps.clock.now()));
    return inputTrouble(deps, lease, error);
  } finally {
    unsubscribe();
  }
  const problem = await fetchedMaskProblem(deps, inputs, assets);
  if (problem !== undefined) return settleFailed(deps, lease, taskError("INPUT_INVALID", problem));
  const request: GenerationRequest = { ...task.request, inputs };
  const outcome = await commit(deps, lease, inputsReady(deps.clock.now(), request, assets));
  return outcome === "lease_lost"
    ? SETTLED
    : { kind: "continue", lease: { ...lease, task: { ...task, request } } };
}

/** Checks a mask that could not be checked at creation, because mask or image was still an address. */
async function fetchedMaskProblem(
  deps: StepDeps,
  inputs: readonly MediaInput[],
  fetched: readonly Asset[],
): Promise<string | undefined> {
  const fileOf = async (input: MediaInput | undefined) => {
    if (input?.source.kind !== "asset") return undefined;
    const { assetId } = input.source;
    return fetched.find((asset) => asset.id === assetId) ?? deps.tasks.assetById(assetId);
  };
  const mask = inputs.find((input) => input.role === "mask");
  const file = await fileOf(mask);
  if (mask === undefined || file === undefined) return undefined;
  const problem = maskProblem(file, await fileOf(inputs.find((input) => input.role === "image")));
  return problem && `${mask.param} ${problem}.`;
}

async function fetchInput(
  deps: StepDeps,
  lease: Lease,
  remote: { input: MediaInput; index: number; url: string },
  signal: AbortSignal,
): Promise<Asset> {
  const accept = mediaKindOf(remote.input);
  const source = await deps.egress
    .fetchMedia(remote.url, { maxBytes: MAX_INPUT_BYTES[accept], signal })
    .catch((error: unknown) => Promise.reject(named(error, remote.input.param)));
  const options = { accept: [accept], maxBytes: MAX_INPUT_BYTES[accept], sanitize: true };
  const file = await deps.assets
    .put(source, options)
    .catch((error: unknown) => Promise.reject(named(error, remote.input.param)));
  return {
    ...file,
    id: deps.ids.create("asset"),
    accountId: lease.task.accountId,
    taskId: lease.task.id,
    role: "input",
    index: remote.index,
    createdAt: deps.clock.now(),
  };
}

/** Why an input cannot be used, with the name of its field. */
class InputTrouble extends Error {
  override readonly name = "InputTrouble";
  constructor(
    readonly error: TaskError,
    readonly mayPass: boolean,
    cause: unknown,
  ) {
    super(error.message, { cause });
  }
}

function named(error: unknown, param: string): unknown {
  if (error instanceof MediaError) {
    return new InputTrouble(taskError("INPUT_INVALID", `${param} ${error.message}`), false, error);
  }
  if (error instanceof EgressError) {
    const mayPass = error.reason === "unreachable" || error.reason === "timeout";
    return new InputTrouble(taskError("INPUT_UNREACHABLE", `${param} ${error.message}`), mayPass, error);
  }
  return error;
}

function inputTrouble(deps: StepDeps, lease: Lease, error: unknown): Promise<StepResult> {
  if (!(error instanceof InputTrouble)) throw error;
  const failures = lease.task.failures + 1;
  if (!error.mayPass || failures >= FETCH_TRIES) return settleFailed(deps, lease, error.error);
  return retryLater(deps, lease);
}

function mediaKindOf(input: MediaInput): MediaKind {
  return input.role === "video" || input.role === "motion" ? "video" : "image";
}

/** The stored files of a request whose inputs are all assets, in order; or the field of one that is missing. */
export async function openInputs(
  deps: Pick<StepDeps, "tasks" | "assets">,
  request: GenerationRequest,
): Promise<InputFile[] | { missing: string }> {
  const files: InputFile[] = [];
  for (const input of request.inputs) {
    const asset =
      input.source.kind === "asset" ? await deps.tasks.assetById(input.source.assetId) : undefined;
    const blob = asset && (await deps.assets.open(asset));
    if (asset === undefined || blob === undefined) return { missing: input.param };
    const { sha256, sizeBytes, type, width, height, durationMs } = asset;
    files.push({
      role: input.role,
      sha256,
      sizeBytes,
      type,
      width,
      height,
      durationMs,
      content: blob,
    });
  }
  return files;
}
