import { createHash } from "node:crypto";
import { sniffMediaType } from "../assets/sniff.ts";
import type { AttemptId, LaneId, ModelId, ProviderId, TaskId } from "../domain/ids.ts";
import type { Json } from "../domain/json.ts";
import { MEDIA_TYPES } from "../domain/media/asset.ts";
import type { Micros } from "../domain/money/money.ts";
import {
  type InputFile,
  type Output,
  type PollResult,
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
} from "../domain/ports/provider.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { retryDelayMs } from "../domain/task/backoff.ts";
import type { TaskKind } from "../domain/task/request.ts";
import { createEgress } from "../egress/egress.ts";
import { createDeclaredProvider } from "../providers/declared/adapter.ts";
import { headOf } from "../providers/declared/head.ts";
import { loadForm } from "../providers/declared/loaded.ts";
import { type Finding, FormFileError, readForm } from "../providers/declared/read-form.ts";
import type { SeenExchange } from "../providers/kit/seen.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
import { systemRandom } from "../runtime/random.ts";
import { createSecret } from "../toolkit/settings/secret.ts";

export type { SeenExchange } from "../providers/kit/seen.ts";

/** What is to be made. */
export interface Trial {
  readonly model: string;
  readonly kind: TaskKind;
  readonly mode: string;
  readonly prompt?: string | undefined;
  readonly parameters: Readonly<Record<string, Json>>;
  readonly region?: string | undefined;
  readonly inputs?: readonly InputFile[] | undefined;
}

export interface MadeFile {
  readonly bytes: Uint8Array;
  /** `png`, without a dot; `bin` for a file of a kind that is not stored. */
  readonly extension: string;
}

export type TrialEnd =
  | {
      readonly kind: "succeeded";
      readonly files: readonly MadeFile[];
      readonly missing: number;
      readonly costMicros?: Micros | undefined;
      /** The handle with which the upstream is polled for the job; absent if it answered at once. */
      readonly operation?: Json | undefined;
    }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "cancelled" }
  /** The upstream took the job, and its outcome is not known: the wait was stopped, or failed for the given cause. */
  | { readonly kind: "left"; readonly operation?: Json | undefined; readonly cause?: string | undefined };

/** Usual time between two questions. */
export const POLL_MS = 2_000;
/** How often in a row a poll without an answer is repeated, which takes about three minutes. */
const MOST_FAILURES = 12;

export interface OpenedTrial {
  readonly provider: string;
  /** The form takes files only by an address, which only a server has. */
  readonly needsInputUrls: boolean;
  run(trial: Trial, deps: TrialDeps): Promise<TrialEnd>;
}

/** Reads a form and finds its key in the environment. */
export function openTrial(
  file: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): { readonly findings: readonly Finding[] } | { readonly missing: readonly string[] } | OpenedTrial {
  try {
    const form = readForm(file, text);
    const { kinds, isKeyless } = headOf(form);
    const given = kinds.find((kind) => Object.values(kind).every((name) => (env[name] ?? "").trim() !== ""));
    if (given === undefined && !isKeyless) return { missing: Object.values(kinds[0] ?? {}) };
    const secrets = Object.entries(given ?? {}).map(([name, variable]) => [
      name,
      createSecret((env[variable] ?? "").trim()),
    ]);
    const { provider } = form;
    const loaded = loadForm(form, createHash("sha256").update(text).digest("hex"), text);
    const adapterFor = (region?: string, deps: Partial<TrialDeps> = {}) =>
      createDeclaredProvider({
        ...{ id: provider as ProviderId, form: loaded, clock: deps.clock ?? createSystemClock() },
        account: {
          ...{ name: "default", lane: provider as LaneId, region },
          secrets: Object.fromEntries(secrets),
        },
        fetchPublic: createEgress({ allow: [] }).fetchMedia,
        onExchange: deps.onExchange,
        onUnknownWord: deps.onUnknownWord,
      });
    return {
      provider,
      needsInputUrls: adapterFor().needsInputUrls === true,
      run: (trial, deps) => runTrial(adapterFor(trial.region, deps), requestOf(provider, trial), deps),
    };
  } catch (error) {
    if (error instanceof FormFileError) return { findings: error.findings };
    throw error;
  }
}

export interface TrialDeps {
  /** Leaves the job where it is. */
  readonly signal: AbortSignal;
  readonly onExchange: (exchange: SeenExchange) => void;
  readonly onUnknownWord: (word: string) => void;
  /** Called when a poll had no answer and is repeated. */
  readonly onRetry: (cause: string) => void;
  /** The system's unless given. */
  readonly clock?: Clock | undefined;
}

function requestOf(
  provider: string,
  { model, kind, mode, prompt, parameters, inputs = [] }: Trial,
): SubmitRequest {
  const ids = createIds(createSystemClock());
  return {
    attempt: ids.create("att") as AttemptId,
    taskId: ids.create("task") as TaskId,
    upstreamModel: model,
    request: {
      ...{ model: provider as ModelId, kind, mode, n: 1, parameters, inputs: [] },
      ...(prompt !== undefined && { prompt }),
    },
    inputs,
  };
}

/**
 * After the upstream has taken the job, any error leads to an end that contains the operation.
 *
 * @throws ProviderError when the upstream refuses it, or no answer comes
 */
async function runTrial(
  adapter: ProviderAdapter,
  request: SubmitRequest,
  { signal, onRetry, clock = createSystemClock() }: TrialDeps,
): Promise<TrialEnd> {
  const submitted = await adapter.submit(request, signal);
  const waiting = { signal, onRetry, clock };
  const operation = submitted.kind === "operation" ? submitted.operation : undefined;
  try {
    const ended =
      submitted.kind === "outputs"
        ? ({ ...submitted, kind: "succeeded" } as const)
        : await untilEnded(adapter, submitted, waiting);
    return ended === undefined
      ? { kind: "left", operation }
      : await collected(adapter, ended, operation, waiting);
  } catch (error) {
    if (signal.aborted) return { kind: "left", operation };
    return { kind: "left", operation, cause: error instanceof Error ? error.message : String(error) };
  }
}

type Ended = Exclude<PollResult, { kind: "pending" }>;
type Waiting = Pick<TrialDeps, "signal" | "onRetry"> & { readonly clock: Clock };

/** Undefined where the upstream cannot be asked. */
async function untilEnded(
  adapter: ProviderAdapter,
  { operation, pollAfterMs }: { readonly operation: Json; readonly pollAfterMs?: number | undefined },
  waiting: Waiting,
): Promise<Ended | undefined> {
  let waitMs = pollAfterMs ?? POLL_MS;
  while (true) {
    await pause(waitMs, waiting);
    const answer = await untilAnswered(async () => adapter.poll?.(operation, waiting.signal), waiting);
    if (answer?.kind !== "pending") return answer;
    waitMs = answer.pollAfterMs ?? POLL_MS;
  }
}

/** Polls again, after growing waits, while the upstream does not answer. */
async function untilAnswered<T>(ask: () => Promise<T>, waiting: Waiting): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await ask();
    } catch (error) {
      if (waiting.signal.aborted || !mayAnswer(error) || failures === MOST_FAILURES) throw error;
      waiting.onRetry(error.message);
      await pause(retryDelayMs(failures, systemRandom(), error.details.retryAfterMs), waiting);
    }
  }
}

/** Whether the next question may have an answer. A key that is refused stays so. */
function mayAnswer(error: unknown): error is ProviderError {
  if (!(error instanceof ProviderError) || error.details.refused !== undefined) return false;
  return error.disposition === "retry" || error.disposition === "unknown";
}

async function collected(
  adapter: ProviderAdapter,
  end: Ended,
  operation: Json | undefined,
  waiting: Waiting,
): Promise<TrialEnd> {
  if (end.kind === "failed")
    return { kind: "failed", message: [end.code, end.detail ?? end.message].filter(Boolean).join(": ") };
  if (end.kind === "cancelled") return end;
  const { outputs, costMicros } = end;
  const files: MadeFile[] = [];
  for (const output of outputs) {
    const bytes = await untilAnswered(() => bytesOf(adapter, output, waiting.signal), waiting);
    if (bytes === undefined) continue;
    const type = sniffMediaType(bytes.subarray(0, 4096));
    files.push({ bytes, extension: type === undefined ? "bin" : MEDIA_TYPES[type].extension });
  }
  return { kind: "succeeded", files, missing: outputs.length - files.length, costMicros, operation };
}

async function bytesOf(adapter: ProviderAdapter, output: Output, signal: AbortSignal) {
  if (output.kind === "missing") return undefined;
  if (output.kind === "bytes") return output.bytes;
  const content = await adapter.fetchOutput?.(output.ref, signal);
  return content && new Uint8Array(Buffer.concat(await Array.fromAsync(content)));
}

function pause(ms: number, { signal, clock }: Pick<Waiting, "signal" | "clock">): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  const abort = () => {
    cancel();
    reject(signal.reason);
  };
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return promise.finally(() => signal.removeEventListener("abort", abort));
}
