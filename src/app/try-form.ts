import { createHash } from "node:crypto";
import { sniffMediaType } from "../assets/sniff.ts";
import type { AttemptId, LaneId, ModelId, ProviderId, TaskId } from "../domain/ids.ts";
import type { Json } from "../domain/json.ts";
import { MEDIA_TYPES } from "../domain/media/asset.ts";
import type { Micros } from "../domain/money/money.ts";
import type { Output, PollResult, ProviderAdapter, SubmitRequest } from "../domain/ports/provider.ts";
import type { TaskKind } from "../domain/task/request.ts";
import { createEgress } from "../egress/egress.ts";
import { createDeclaredProvider } from "../providers/declared/adapter.ts";
import { headOf } from "../providers/declared/head.ts";
import { loadForm } from "../providers/declared/loaded.ts";
import { type Finding, FormFileError, readForm } from "../providers/declared/read-form.ts";
import type { SeenExchange } from "../providers/kit/seen.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createIds } from "../runtime/ids.ts";
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
    }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "cancelled" }
  /** It was left while the job runs at the upstream. */
  | { readonly kind: "left"; readonly operation: Json };

/** Usual time between two questions. */
const POLL_MS = 2_000;

/** Reads a form and finds its key in the environment. */
export function openTrial(
  file: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
):
  | { readonly findings: readonly Finding[] }
  | { readonly missing: readonly string[] }
  | { readonly provider: string; run(trial: Trial, deps: TrialDeps): Promise<TrialEnd> } {
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
    return {
      provider,
      run(trial, deps) {
        const adapter = createDeclaredProvider({
          ...{ id: provider as ProviderId, form: loaded, clock: createSystemClock() },
          account: {
            ...{ name: "default", lane: provider as LaneId, region: trial.region },
            secrets: Object.fromEntries(secrets),
          },
          fetchPublic: createEgress({ allow: [] }).fetchMedia,
          onExchange: deps.onExchange,
          onUnknownWord: deps.onUnknownWord,
        });
        return runTrial(adapter, requestOf(provider, trial), deps);
      },
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
}

function requestOf(provider: string, { model, kind, mode, prompt, parameters }: Trial): SubmitRequest {
  const ids = createIds(createSystemClock());
  return {
    attempt: ids.create("att") as AttemptId,
    taskId: ids.create("task") as TaskId,
    upstreamModel: model,
    request: {
      ...{ model: provider as ModelId, kind, mode, n: 1, parameters, inputs: [] },
      ...(prompt !== undefined && { prompt }),
    },
    inputs: [],
  };
}

/** @throws ProviderError when the upstream refuses it, or no answer comes */
async function runTrial(
  adapter: ProviderAdapter,
  request: SubmitRequest,
  { signal }: TrialDeps,
): Promise<TrialEnd> {
  const submitted = await adapter.submit(request, signal);
  if (submitted.kind === "outputs") return collected(adapter, { ...submitted, kind: "succeeded" }, signal);
  const { operation } = submitted;
  let waitMs = submitted.pollAfterMs ?? POLL_MS;
  try {
    while (true) {
      await pause(waitMs, signal);
      const answer = await adapter.poll?.(operation, signal);
      if (answer === undefined) return { kind: "left", operation };
      if (answer.kind !== "pending") return await collected(adapter, answer, signal);
      waitMs = answer.pollAfterMs ?? POLL_MS;
    }
  } catch (error) {
    if (signal.aborted) return { kind: "left", operation };
    throw error;
  }
}

type Ended = Exclude<PollResult, { kind: "pending" }>;

async function collected(adapter: ProviderAdapter, end: Ended, signal: AbortSignal): Promise<TrialEnd> {
  if (end.kind === "failed")
    return { kind: "failed", message: [end.code, end.detail ?? end.message].filter(Boolean).join(": ") };
  if (end.kind === "cancelled") return end;
  const files: MadeFile[] = [];
  for (const output of end.outputs) {
    const bytes = await bytesOf(adapter, output, signal);
    if (bytes === undefined) continue;
    const type = sniffMediaType(bytes.subarray(0, 4096));
    files.push({ bytes, extension: type === undefined ? "bin" : MEDIA_TYPES[type].extension });
  }
  return { kind: "succeeded", files, missing: end.outputs.length - files.length, costMicros: end.costMicros };
}

async function bytesOf(adapter: ProviderAdapter, output: Output, signal: AbortSignal) {
  if (output.kind === "missing") return undefined;
  if (output.kind === "bytes") return output.bytes;
  const content = await adapter.fetchOutput?.(output.ref, signal);
  return content && new Uint8Array(Buffer.concat(await Array.fromAsync(content)));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancel = createSystemClock().after(ms, resolve);
  const abort = () => {
    cancel();
    reject(signal.reason);
  };
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return promise.finally(() => signal.removeEventListener("abort", abort));
}
