import type { AttemptId, LaneId, ModelId, ProviderId, TaskId } from "../../../domain/ids.ts";
import type { Json } from "../../../domain/json.ts";
import {
  type InputFile,
  type Output,
  type PollResult,
  type ProviderAdapter,
  ProviderError,
  type SubmitRequest,
} from "../../../domain/ports/provider.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { InputRole } from "../../../domain/task/request.ts";
import { createSecret } from "../../../toolkit/settings/secret.ts";
import { consequenceOf, type Meaning } from "../../kit/refusal.ts";
import { createDeclaredProvider } from "../adapter.ts";
import { variablesOf } from "../auth.ts";
import { authsOf } from "../compiled-form.ts";
import type { AuthForm, ExampleForm, Form, JwtForm } from "../form.ts";
import { type LoadedForm, loadForm } from "../loaded.ts";
import { ATTEMPT, contentOf, differencesIn } from "./compare.ts";
import {
  MADE_PATH,
  type RehearsedAnswer,
  type RehearsedRequest,
  startRehearsedUpstream,
} from "./upstream.ts";

/** How an example ran. */
export interface ExampleRun {
  /** What differs from what the example says; empty when nothing does. */
  readonly differences: readonly string[];
  readonly arrived: readonly RehearsedRequest[];
}

export interface RehearsalDeps {
  readonly clock: Clock;
  /** Questions about one job after which it counts as pending. */
  readonly mostPolls?: number;
}

/** What stands for each secret of a form, and must be nowhere but in the credentials. */
export const REHEARSED_SECRET = "rehearsed-secret-0123456789abcdef";
const MOST_POLLS = 20;

/** Runs an example of a form against an upstream on this machine that gives the example's answers. */
export async function runExample(form: Form, example: ExampleForm, deps: RehearsalDeps): Promise<ExampleRun> {
  const answers = [...example.answers];
  const upstream = await startRehearsedUpstream((_request, origin): RehearsedAnswer => {
    const next = answers.length > 1 ? answers.shift() : answers[0];
    return next === undefined ? { status: 500 } : (placed(next, origin, form) as RehearsedAnswer);
  });
  try {
    const clock = createRehearsedClock(deps.clock);
    const provider = rehearsedProvider(form, upstream.origin, clock);
    const request = requestOf(example, form.provider);
    const isWaiting = () => example.ends === "lost" && answers.length <= 1;
    const betweenPolls = () => clock.pass(isWaiting() ? USUAL_WAIT_MS + clock.passedMs() : USUAL_WAIT_MS);
    const ending = await endingOf(provider, request, deps.mostPolls ?? MOST_POLLS, betweenPolls);
    return {
      arrived: upstream.arrived,
      differences: [
        ...differencesIn(example.sends, upstream.arrived, form),
        ...endDifferences(example.ends, ending),
      ],
    };
  } finally {
    await upstream.stop();
  }
}

/** Between two questions. Where a job is to be lost, it doubles once all answers are given. */
const USUAL_WAIT_MS = 5_000;

/** A clock that goes on as it is told. */
function createRehearsedClock(clock: Clock) {
  let passed = 0;
  return {
    ...{
      elapsed: () => clock.elapsed(),
      after: (delayMs: number, run: () => void) => clock.after(delayMs, run),
    },
    now: () => clock.now() + passed,
    pass(ms: number): void {
      passed += ms;
    },
    passedMs: () => passed,
  };
}

/** Where tokens are asked for in place of another host. */
const TOKEN_PATH = "/rehearsed/token";

/** The adapter of a form for an upstream on this machine. It reaches no other address. */
export function rehearsedProvider(form: Form, origin: string, clock: Clock): ProviderAdapter {
  const [kind = {}] = authsOf(form);
  const secrets = Object.keys(variablesOf(kind)).map((name) => [name, createSecret(REHEARSED_SECRET)]);
  return createDeclaredProvider({
    // Forms are where ids of providers come from; the account is that of the customary variable.
    ...{ id: form.provider as ProviderId, form: localForm(form), clock },
    account: {
      ...{ name: "default", lane: form.provider as LaneId, baseUrl: origin },
      secrets: Object.fromEntries(secrets),
    },
  });
}

/** Compiling takes longer than a rehearsal, and every rehearsal of a form is of the same one. */
const localForms = new WeakMap<Form, LoadedForm>();

/** A form as it reaches this machine alone. */
function localForm(form: Form): LoadedForm {
  const known = localForms.get(form);
  if (known !== undefined) return known;
  const { regions: _regions, media = [], ...rest } = form;
  const local: Form = {
    ...{ ...rest, origins: [], auth: authsOf(form).map(withLocalTokens) },
    // No host: files are fetched from the upstream on this machine alone.
    media: media.filter((each) => each === "own-with-key"),
  };
  const loaded = loadForm(local, "rehearsed", "");
  localForms.set(form, loaded);
  return loaded;
}

function withLocalTokens({ oauth, jwt, ...auth }: AuthForm): AuthForm {
  const { assertion } = oauth ?? {};
  return {
    ...auth,
    ...(jwt && { jwt: rehearsedJwt(jwt) }),
    ...(oauth && {
      oauth: {
        ...{ ...oauth, token_url: TOKEN_PATH },
        ...(assertion && { assertion: rehearsedJwt(assertion) }),
      },
    }),
  };
}

/** The secret of a rehearsal is no private key. */
const rehearsedJwt = (jwt: JwtForm): JwtForm => ({ ...jwt, alg: "HS256" });

/** Puts the addresses of the upstream into an answer: `${base}`, and `${media}` for a file that it has made. */
export function placed(value: unknown, origin: string, form: Form): unknown {
  if (typeof value === "string") {
    const path = new URL(form.base).pathname.replace(/\/+$/, "");
    return value.replaceAll("${base}", origin + path).replaceAll("${media}", `${origin}${MADE_PATH}/1`);
  }
  if (Array.isArray(value)) return value.map((each) => placed(each, origin, form));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, placed(each, origin, form)]));
}

/** The request of an example, with a picture of one pixel for each input. */
export function requestOf({ request }: ExampleForm, provider: string): SubmitRequest {
  const { model, kind, mode, prompt, params = {}, n = 1, inputs = [] } = request;
  return {
    ...{
      attempt: ATTEMPT as AttemptId,
      taskId: "task_00000000000000000000000001" as TaskId,
      upstreamModel: model,
    },
    request: {
      ...{ kind, mode, n, inputs: [], model: provider as ModelId },
      ...(prompt !== undefined && { prompt }),
      // What YAML has is JSON.
      parameters: params as Readonly<Record<string, Json>>,
    },
    wording: request.wording,
    inputs: rehearsedInputs(inputs),
  };
}

/** A file for each role. The content says which one it is. */
function rehearsedInputs(roles: readonly string[]): InputFile[] {
  return roles.map((text, i): InputFile => {
    const role = text as InputRole;
    const number = roles.slice(0, i + 1).filter((each) => each === text).length;
    const isVideo = role === "video" || role === "motion";
    const isAudio = role === "audio";
    const type = isAudio ? "audio/mpeg" : isVideo ? "video/mp4" : "image/png";
    const side = isAudio ? 0 : 1024;
    const content = contentOf(`${role} ${number}`);
    return {
      ...{ role, type, width: side, height: side, sha256: `${role} ${number}`, sizeBytes: content.length },
      ...((isVideo || isAudio) && { durationMs: 5_000 }),
      content: new Blob([content], { type }),
      url: () => `https://rehearsed.invalid/${role}-${number}`,
      ...(role === "mask" && {
        painted: async (colour: string) => new Blob([contentOf(`mask ${number} in ${colour}`)]),
      }),
    };
  });
}

export type Ending =
  | Extract<PollResult, { kind: "succeeded" | "failed" | "cancelled" }>
  | { readonly kind: "pending" }
  | { readonly kind: "refused"; readonly error: ProviderError };

/** Submits, and asks until the job ends. Fetches what was made. */
export async function endingOf(
  provider: ProviderAdapter,
  request: SubmitRequest,
  mostPolls: number,
  betweenPolls = () => {},
): Promise<Ending> {
  const { signal } = new AbortController();
  try {
    const submitted = await provider.submit(request, signal);
    if (submitted.kind === "outputs")
      return await fetched(provider, { ...submitted, kind: "succeeded" as const });
    for (let i = 0; i < mostPolls; i++) {
      const answer = await provider.poll?.(submitted.operation, signal);
      if (answer?.kind === "succeeded") return await fetched(provider, answer);
      if (answer !== undefined && answer.kind !== "pending") return answer;
      betweenPolls();
    }
    return { kind: "pending" };
  } catch (error) {
    if (error instanceof ProviderError) return { kind: "refused", error };
    throw error;
  }
}

async function fetched<End extends { readonly outputs: readonly Output[] }>(
  provider: ProviderAdapter,
  end: End,
): Promise<End> {
  for (const output of end.outputs) {
    if (output.kind !== "remote") continue;
    const content = await provider.fetchOutput?.(output.ref, new AbortController().signal);
    for await (const _chunk of content ?? []) break;
  }
  return end;
}

function endDifferences(wanted: ExampleForm["ends"], ending: Ending): string[] {
  const told = describe(ending);
  if (wanted === "lost") {
    const isSo = ending.kind === "failed" && ending.isLost === true;
    return isSo ? [] : [`ends ${told}, not lost`];
  }
  if (typeof wanted === "string") {
    const isSo = ending.kind === wanted && !(ending.kind === "succeeded" && isEmpty(ending.outputs));
    return isSo ? [] : [`ends ${told}, not ${wanted}`];
  }
  const [kind, meaning] = "failed" in wanted ? ["failed", wanted.failed] : ["refused", wanted.refused];
  // The form's schema knows the meanings.
  const { disposition, code } = consequenceOf(meaning as Meaning);
  const isFailed = ending.kind === "failed" && ending.code === code;
  const isMissing =
    ending.kind === "succeeded" && isEmpty(ending.outputs) && missingCode(ending.outputs) === code;
  const isRefused =
    ending.kind === "refused" && ending.error.disposition === disposition && ending.error.code === code;
  const isSo = kind === "failed" ? isFailed || isMissing : isRefused;
  return isSo ? [] : [`ends ${told}, not ${kind} as ${meaning} (${code})`];
}

function isEmpty(outputs: readonly Output[]): boolean {
  return outputs.every(({ kind }) => kind === "missing");
}

function missingCode([first]: readonly Output[]): string {
  return first?.kind === "missing" ? first.code : "UPSTREAM_ERROR";
}

function describe(ending: Ending): string {
  switch (ending.kind) {
    case "failed":
      return `failed with ${ending.code}${ending.detail === undefined ? "" : `: ${ending.detail}`}`;
    case "refused":
      return `refused (${ending.error.disposition}, ${ending.error.code}): ${ending.error.message}`;
    case "succeeded":
      return isEmpty(ending.outputs) ? "succeeded without an output" : "succeeded";
    default:
      return ending.kind;
  }
}
