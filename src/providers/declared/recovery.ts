import type { Json } from "../../domain/json.ts";
import { ProviderError, type Recovered, type RecoverRequest } from "../../domain/ports/provider.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { describeAnswer, unansweredQuestion } from "../kit/classify.ts";
import type { Upstream } from "../kit/http.ts";
import type { Scope } from "./expression.ts";
import { ExpressionError } from "./fences.ts";
import type { Recovery } from "./flow.ts";
import type { Job } from "./job.ts";
import { readOperation } from "./operation.ts";
import { answerScope, textIn } from "./reading.ts";
import { chooseFlow, jobIdOf, type Submitting } from "./submission.ts";
import type { Value } from "./value.ts";

/** Finds out the outcome of a submission whose answer was lost. @throws ProviderError `retry` when the upstream does not say */
export async function recoverDeclared(
  { compiled, connection, now }: Submitting,
  request: RecoverRequest,
  signal: AbortSignal,
): Promise<Recovered> {
  const { upstream } = connection;
  const { flow, scope } = chooseFlow(compiled, connection, request);
  const { recover, submit } = flow;
  if (recover === undefined || submit.operation === undefined) return { kind: "unable" };
  let answer: UpstreamAnswer;
  try {
    answer = await connection.ask(recover.call, scope, {}, signal);
  } catch (error) {
    if (!(error instanceof ExpressionError)) return unansweredQuestion(error);
    throw new ProviderError("fail", "UPSTREAM_ERROR", `${upstream.name}: ${error.message}`);
  }
  const seen: Scope = { ...scope, ...answerScope(answer) };
  const { status } = answer;
  const code = compiled.refusals.code(answer);
  const isOk = connection.isOk(answer);
  // An answer that refuses the question says nothing of the job, whatever an expression makes of its body.
  if ((isOk || recover.namesRefusal) && recover.isAbsent({ scope: seen, status, code }))
    return { kind: isSettled(upstream, request, now()) ? "absent" : "unsettled" };
  const values = isOk ? foundIn(recover, submit.operation, seen) : undefined;
  if (values === undefined)
    throw new ProviderError(
      "retry",
      "UPSTREAM_ERROR",
      `${describeAnswer(upstream, answer, { word: code })}, with no word on the attempt`,
    );
  const job: Job = { flow: flow.name, kind: request.request.kind, submitted_at: now(), values };
  return { kind: "found", operation: job as unknown as Json, jobId: jobIdOf(upstream, values) };
}

/** A submission younger than this may be unknown because the upstream's servers have not all heard of it. */
const SETTLED_MS = 60_000;

function isSettled({ network }: Upstream, { startedAt = 0 }: RecoverRequest, now: number): boolean {
  // The clock may have been set since: an attempt from the future is an old one. What is recorded stays as it is.
  return network.isPlayed === true || Math.abs(now - startedAt) >= SETTLED_MS;
}

/** A text stands for the operation's `id`, or its only value; the other values are those that a submission would have. */
function foundIn(
  { found }: Recovery,
  operation: Readonly<Record<string, Value>>,
  scope: Scope,
): Job["values"] | undefined {
  if (!isValue(found)) return readOperation(found, scope);
  const id = textIn(found, scope);
  if (id === undefined) return undefined;
  const names = Object.keys(operation);
  const own = names.includes("id") ? "id" : names[0];
  const others = Object.fromEntries(Object.entries(operation).filter(([name]) => name !== own));
  const rest = readOperation(others, scope);
  return rest && own !== undefined ? { ...rest, [own]: id } : undefined;
}

function isValue(found: Recovery["found"]): found is Value {
  return typeof found.evaluate === "function";
}
