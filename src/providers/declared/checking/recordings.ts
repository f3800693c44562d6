import type { AttemptId, LaneId, ModelId, ProviderId, TaskId } from "../../../domain/ids.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../domain/json.ts";
import { accountNameOf, providerOf } from "../../../domain/lane.ts";
import type { InputFile, ProviderAdapter, Submission } from "../../../domain/ports/provider.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import { createSecret } from "../../../toolkit/settings/secret.ts";
import { inJson, thrown } from "../../recordings/calls.ts";
import { canonicalValue, firstDifference } from "../../recordings/canonical.ts";
import type { Fault, Library, RecordedCall, Recording } from "../../recordings/library.ts";
import { withoutAddressKeys } from "../../recordings/masking.ts";
import { playCall } from "../../recordings/one-call.ts";
import { createDeclaredProvider } from "../adapter.ts";
import { headOf } from "../head.ts";
import type { LoadedForm } from "../loaded.ts";

export interface CheckedRecordings {
  /** By the lines of the recordings. */
  readonly findings: readonly Fault[];
  /** Calls that were made again. */
  readonly calls: number;
}

/**
 * Makes a form repeat each recorded call of its provider. It must send the recorded requests and understand the answers as before.
 * Only the recordings answer.
 */
export async function checkRecordings(
  library: Library,
  form: LoadedForm,
  clock: Clock,
): Promise<CheckedRecordings> {
  const findings: Fault[] = [];
  let calls = 0;
  for (const recording of library.recordings) {
    for (const call of recording.calls) {
      if (providerOf(call.lane as LaneId) !== form.form.provider || !isPlayable(call)) continue;
      calls += 1;
      const found = await checkCall({ library, recording, form, clock }, call);
      findings.push(...found.map((message) => ({ file: recording.file, line: call.line, message })));
    }
  }
  return { findings, calls };
}

/** One whose bodies are all there. Masks are painted anew for some upstreams, which needs the service. */
function isPlayable({ exchanges, with: given }: RecordedCall): boolean {
  const inputs = isJsonObject(given) && Array.isArray(given.inputs) ? given.inputs : [];
  const hasMask = inputs.some((each) => isJsonObject(each) && each.role === "mask");
  return !hasMask && exchanges.every(({ fault }) => fault === undefined);
}

interface Checking {
  readonly library: Library;
  readonly recording: Recording;
  readonly form: LoadedForm;
  readonly clock: Clock;
}

async function checkCall(
  { library, recording, form, clock }: Checking,
  call: RecordedCall,
): Promise<string[]> {
  const atMs = Date.parse(call.exchanges[0]?.at ?? "");
  const lane = call.lane as LaneId;
  const play = playCall(library, call.exchanges, { lane, atMs });
  const [kind = {}] = headOf(form.form).kinds;
  const secrets = Object.keys(kind).map((name) => [name, createSecret("placeholder-of-a-check")]);
  const terms = recording.accounts.get(lane);
  const { base, region } = isJsonObject(terms) ? terms : {};
  const adapter = createDeclaredProvider({
    ...{ id: form.form.provider as ProviderId, form, network: play.network, fetchPublic: play.fetchPublic },
    // Uses the time of the recording, because jobs grow old.
    clock: { ...clock, now: () => atMs },
    account: {
      ...{ name: accountNameOf(lane), lane, secrets: Object.fromEntries(secrets) },
      ...(typeof base === "string" && { baseUrl: base }),
      ...(typeof region === "string" && { region }),
    },
  });
  const outcome = await outcomeOf(adapter, library, call);
  const misses = play.misses.map((miss) => `${call.call}: the form ${miss}`);
  if (misses.length > 0) return misses;
  const unasked = play.left().map(({ sent, line }) => {
    return `${call.call}: the form does not ask for ${sent.method} ${sent.url} (line ${line})`;
  });
  const difference = firstDifference(comparable(call, atMs), comparable(outcome, atMs), "the result");
  return difference === undefined ? unasked : [...unasked, `${call.call}: ${difference}`];
}

type Outcome = Pick<RecordedCall, "came" | "threw">;

async function outcomeOf(adapter: ProviderAdapter, library: Library, call: RecordedCall): Promise<Outcome> {
  try {
    return { came: jsonOf((await resultOf(adapter, library, call)) ?? null) };
  } catch (error) {
    return { threw: jsonOf(thrown(error)) };
  }
}

async function resultOf(
  adapter: ProviderAdapter,
  library: Library,
  { call, with: given }: RecordedCall,
): Promise<unknown> {
  const { signal } = new AbortController();
  switch (call) {
    case "submit":
      return await adapter.submit(await requestOf(library, given), signal);
    case "recover":
      return await adapter.recover?.(await requestOf(library, given), signal);
    case "poll":
      return await adapter.poll?.(given, signal);
    case "cancel":
      return await adapter.cancel?.(given, signal);
    case "fetchOutput": {
      const pieces = await adapter.fetchOutput?.(given, signal);
      return new Uint8Array(Buffer.concat(pieces === undefined ? [] : await Array.fromAsync(pieces)));
    }
  }
}

/** The request of a submission, as it was recorded. */
async function requestOf(library: Library, given: Json): Promise<Submission & { inputs: InputFile[] }> {
  const { attempt, upstreamModel, wording, request, inputs }: JsonObject = isJsonObject(given) ? given : {};
  const files = await Promise.all(
    (Array.isArray(inputs) ? inputs : []).map((each) => inputOf(library, each)),
  );
  const { model } = isJsonObject(request) ? request : {};
  // They were written from such values.
  return {
    ...{
      attempt: attempt as unknown as AttemptId,
      taskId: "" as TaskId,
      upstreamModel: String(upstreamModel),
    },
    wording: wording as unknown as Submission["wording"],
    request: { ...(request as unknown as Submission["request"]), model: String(model) as ModelId },
    inputs: files,
  };
}

async function inputOf(library: Library, given: Json): Promise<InputFile> {
  const { content, ...input }: JsonObject = isJsonObject(given) ? given : {};
  const stored = isJsonObject(content) && typeof content.file === "string" ? content.file : undefined;
  const text = isJsonObject(content) && typeof content.text === "string" ? content.text : "";
  const bytes = await library.content(stored === undefined ? { text } : { file: stored, bytes: 0 });
  const address = `https://svc.invalid/inputs/${String(input.sha256)}-0-0-0.bin`;
  const known = input as unknown as Omit<InputFile, "content">;
  return { ...known, content: new Blob([new Uint8Array(bytes)], { type: known.type }), url: () => address };
}

/** An outcome without what is told to people only, and what depends on the server. */
function comparable({ came, threw }: Outcome, atMs: number): Json {
  const value = came === undefined ? { threw: threw ?? null } : { came };
  const text = JSON.stringify(value, (name, each: unknown) => (UNTOLD.has(name) ? undefined : each));
  return canonicalValue(JSON.parse(withoutAddressKeys(text)), atMs);
}

const UNTOLD: ReadonlySet<string> = new Set(["message", "detail", "isHooked"]);

function jsonOf(value: unknown): Json {
  return JSON.parse(inJson(value)) as Json;
}
