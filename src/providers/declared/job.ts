import { isJsonObject, type Json } from "../../domain/json.ts";
import type { Micros } from "../../domain/money/money.ts";
import { type PollResult, ProviderError } from "../../domain/ports/provider.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import {
  describeAnswer,
  failedJob,
  retryAfterMs,
  unansweredQuestion,
  unusableAnswer,
} from "../kit/classify.ts";
import { type Meaning, refusedByQuestion } from "../kit/refusal.ts";
import type { CompiledForm } from "./compiled-form.ts";
import type { Connection } from "./connection.ts";
import type { Scope } from "./expression.ts";
import { ExpressionError } from "./fences.ts";
import { type CompiledFlow, isSuccess, type Question, type Word } from "./flow.ts";
import { answerScope, numberIn, pollAfterMs, textIn } from "./reading.ts";
import { explainRefusal } from "./skew.ts";

/** A job at the upstream: the stored operation. */
export interface Job {
  readonly flow: string;
  readonly kind: TaskKind;
  /** By our clock, epoch milliseconds. */
  readonly submitted_at: number;
  /** What the form took from the answer to the submission. */
  readonly values: Readonly<Record<string, string | number>>;
  /** The cost according to that answer; a later answer with a cost replaces it. */
  readonly cost_micros?: Micros;
}

export interface Asking {
  readonly compiled: CompiledForm;
  readonly connection: Connection;
  readonly now: () => number;
  /** Told of a status word that the form does not have. */
  readonly onUnknownWord?: ((word: string) => void) | undefined;
}

/**
 * Reads a stored operation.
 *
 * @throws ProviderError `fail` for one that is none; `retry` for one of a flow that this form does not have, or whose jobs it does not ask
 * after: another node, or a form that is put right, may have it
 */
export function jobOf(
  { flows, form }: CompiledForm,
  operation: Json,
): { readonly job: Job; readonly flow: CompiledFlow } {
  if (
    isJsonObject(operation) &&
    isJsonObject(operation.values) &&
    typeof operation.submitted_at === "number"
  ) {
    const flow = flows.find(({ name }) => name === operation.flow);
    // Its members are those that a submission wrote.
    if (flow?.poll !== undefined) return { job: operation as unknown as Job, flow };
    if (typeof operation.flow === "string") throw noFlow(form.provider, operation.flow);
  }
  throw new ProviderError("fail", "UPSTREAM_ERROR", `${form.provider}: this is no operation of its form`);
}

function noFlow(provider: string, name: string): ProviderError {
  const detail = `${provider}: the form with which this job began is not here, and the one in force has no flow "${name}" whose jobs are asked after`;
  return new ProviderError("retry", "UPSTREAM_ERROR", detail);
}

/** Polls a job once, and fetches its result when it is done. @throws ProviderError if the answer is unusable */
export async function pollDeclared(
  asking: Asking,
  operation: Json,
  signal: AbortSignal,
): Promise<PollResult> {
  const { job, flow } = jobOf(asking.compiled, operation);
  const { poll, result } = flow;
  if (poll === undefined) throw new Error(`The flow ${flow.name} has no poll`);
  const scope = { operation: job.values };
  const seen = await question(asking, poll, scope, signal);
  const answered = await readAnswer(asking, poll, job, seen);
  if (answered !== "succeeded") return answered;
  if (result === undefined) return made(asking, poll, job, seen);
  const polled = answerScope(seen.answer).body;
  const last = await question(asking, result, { ...scope, polled }, signal);
  const ending = result.status === undefined ? "succeeded" : await readAnswer(asking, result, job, last);
  return ending === "succeeded" ? made(asking, result, job, last) : ending;
}

interface Seen {
  readonly answer: UpstreamAnswer;
  readonly scope: Scope;
}

/** One call about a job. @throws ProviderError `retry` when the answer does not speak of it */
export async function question(
  { connection, compiled, now }: Asking,
  { call, speaks, takesBytes }: Pick<Question, "call" | "speaks" | "takesBytes">,
  scope: Scope,
  signal: AbortSignal,
): Promise<Seen> {
  let answer: UpstreamAnswer;
  try {
    answer = await connection.ask(call, scope, { takesBytes }, signal);
  } catch (error) {
    if (!(error instanceof ExpressionError)) return unansweredQuestion(error);
    const detail = `${connection.upstream.name}: ${error.message}`;
    // What the poll has just said lacks something; it may be there a moment later. A job that this form cannot ask after began with
    // another one, which another node may have, or a form that is put right.
    throw scope.polled === undefined
      ? new ProviderError("retry", "UPSTREAM_ERROR", detail)
      : unusableAnswer(detail);
  }
  // Where the form lists an error's status, its body speaks of the job, whatever the envelope.
  const isWord =
    speaks(answer.status) && isReadable(answer) && (!isSuccess(answer.status) || connection.isOk(answer));
  if (isWord) return { answer, scope: { ...connection.scope, ...scope, ...answerScope(answer) } };
  const refusal = explainRefusal(
    { compiled, now },
    compiled.refusals.read(connection.upstream, answer),
    answer,
  );
  throw new ProviderError("retry", "UPSTREAM_ERROR", `${refusal.detail}, with no word on the job`, {
    retryAfterMs: refusal.retryAfterMs ?? retryAfterMs(answer.headers),
    refused: refusedByQuestion(refusal),
    isTooOften: refusal.meaning === "busy" && refusal.status === 429,
  });
}

/** Whether a body is what the form expects, not a proxy's page or truncated JSON. */
function isReadable({ json, bytes, text, headers }: UpstreamAnswer): boolean {
  if (json !== undefined || bytes !== undefined || text === undefined || text === "") return true;
  return /^text\/plain/.test(headers.get("content-type") ?? "");
}

/** What an answer says of a job: its end without a result, that it goes on, or that it has succeeded. */
async function readAnswer(
  asking: Asking,
  poll: Question,
  job: Job,
  { answer, scope }: Seen,
): Promise<PollResult | "succeeded"> {
  const { upstream } = asking.connection;
  const text = textIn(poll.status, scope);
  if (text === undefined)
    throw new ProviderError("retry", "UPSTREAM_ERROR", `${describeAnswer(upstream, answer)}, with no status`);
  const word = poll.wordOf(text);
  // Neither success nor failure follows from an unknown word.
  if (word === undefined) asking.onUnknownWord?.(upstream.scrub(text));
  switch (word?.kind) {
    case "succeeded":
      return "succeeded";
    case "cancelled":
      return { kind: "cancelled" };
    case "failed":
      return failed(asking, poll, word, job, { answer, scope });
    case "lost":
      if (Math.abs(asking.now() - job.submitted_at) >= word.afterMs)
        return {
          kind: "failed",
          code: "UPSTREAM_ERROR",
          message: "The provider no longer has this job.",
          isLost: true,
        };
  }
  return {
    kind: "pending",
    progress: progressIn(poll, scope),
    pollAfterMs: pollAfterMs(poll.pollAfter, scope),
  };
}

function failed(
  { compiled, connection }: Asking,
  poll: Question,
  word: Extract<Word, { kind: "failed" }>,
  job: Job,
  { answer, scope }: Seen,
): PollResult {
  const told = {
    meaning: word.meaning(scope) as Meaning,
    code: textIn(poll.code, scope),
    message: textIn(poll.message, scope),
  };
  const refusal = compiled.refusals.read(connection.upstream, answer, told);
  const end = failedJob(refusal);
  if (end.kind !== "failed") return end;
  const isCharged = word.isCharged(scope);
  const costMicros = isCharged ? (poll.cost(scope) ?? job.cost_micros) : undefined;
  return {
    ...end,
    ...{ detail: refusal.detail, isCharged },
    ...(costMicros !== undefined && { costMicros }),
  };
}

function progressIn({ progress }: Question, scope: Scope): number | undefined {
  const percent = numberIn(progress, scope);
  // Only an end is 100.
  return percent === undefined ? undefined : Math.min(99, Math.max(0, Math.floor(percent)));
}

/** @throws ProviderError `unusable` when what was made is not where the form says */
function made({ connection }: Asking, from: Question, job: Job, { answer, scope }: Seen): PollResult {
  try {
    const making = from.making?.(answer, scope, job.kind);
    if (making !== undefined)
      return { kind: "succeeded", ...making, costMicros: making.costMicros ?? job.cost_micros };
    throw unusableAnswer(`${describeAnswer(connection.upstream, answer)}, and the form tells no outputs`);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const detail = `${describeAnswer(connection.upstream, answer)}, but without the outputs: ${error.message}`;
    throw unusableAnswer(connection.upstream.scrub(detail));
  }
}
