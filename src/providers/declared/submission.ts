import type { Json } from "../../domain/json.ts";
import {
  type InputFile,
  ProviderError,
  type SubmitRequest,
  type Submitted,
} from "../../domain/ports/provider.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { describeAnswer, refusedSubmission, unansweredSubmission, unusableAnswer } from "../kit/classify.ts";
import { hookFor } from "../kit/hooks.ts";
import { hopHeaders } from "../kit/hops.ts";
import type { Upstream } from "../kit/http.ts";
import { wordRequest } from "../kit/wording.ts";
import type { CompiledForm } from "./compiled-form.ts";
import type { Connection } from "./connection.ts";
import { ABSENT, type Scope } from "./expression.ts";
import { ExpressionError } from "./fences.ts";
import { Files } from "./files.ts";
import type { CompiledFlow } from "./flow.ts";
import type { Job } from "./job.ts";
import { readOperation } from "./operation.ts";
import { answerScope, pollAfterMs } from "./reading.ts";
import { explainRefusal } from "./skew.ts";
import type { Uploads } from "./uploads.ts";

export interface Submitting {
  /** Where requests go. */
  readonly base: string;
  readonly compiled: CompiledForm;
  readonly connection: Connection;
  readonly uploads: Uploads;
  readonly now: () => number;
}

/** Submits a request in the form's words. @throws ProviderError */
export async function submitDeclared(
  submitting: Submitting,
  given: SubmitRequest,
  signal: AbortSignal,
): Promise<Submitted> {
  const { compiled, connection, uploads, base } = submitting;
  const request = compiled.breakOrders(given);
  const { upstream } = connection;
  const hook = hookFor(base, request.hookUrl);
  const { flow, scope: chosen } = chooseFlow(compiled, connection, request);
  const scope: Scope = { ...chosen, hook: hook ?? ABSENT };
  const { submit } = flow;
  const { tracing } = request;
  const files = new Files(request.attempt, request.inputs, submit.inline);
  refuseChanged(compiled, scope, files);
  const headers = {
    ...hopHeaders(request),
    ...(submit.idempotent === undefined ? {} : { [submit.idempotent]: request.attempt }),
  };
  const options = { files, headers, takesBytes: submit.takesBytes, mustUse: true, tracing };
  const send = async () => {
    const isReused = await uploads.prepare(flow.prepare, files, { scope, tracing }, signal);
    const seen = withFields(compiled, request, scope, files);
    const answer = await connection.ask(submit.call, seen, options, signal).catch(untaken);
    const refusal = connection.isOk(answer) ? undefined : compiled.refusals.read(upstream, answer);
    return { answer, seen, refusal, isReused };
  };
  let sent = await send();
  // It may be that the upstream no longer has what was uploaded for another task.
  if (sent.isReused && (sent.refusal?.meaning === "bad_input" || sent.refusal?.meaning === "refused")) {
    uploads.forget(flow.prepare, files);
    sent = await send();
  }
  const { answer, seen, refusal } = sent;
  if (refusal !== undefined) throw refusedSubmission(explainRefusal(submitting, refusal, answer));
  const read = { answer, scope: { ...seen, ...answerScope(answer) } };
  const isHooked = submit.readsHook && hook !== undefined;
  return { ...readSubmitted(submitting, flow, request, read), ...(isHooked && { isHooked }) };
}

/** Throws for a submission that was not worded, or got no answer. */
function untaken(error: unknown): never {
  if (error instanceof ExpressionError) throw unsayable(error.message);
  return unansweredSubmission(error);
}

function readSubmitted(
  { compiled, connection, now }: Submitting,
  flow: CompiledFlow,
  { request: { kind } }: SubmitRequest,
  { answer, scope }: { readonly answer: UpstreamAnswer; readonly scope: Scope },
): Submitted {
  const { submit } = flow;
  const values = submit.operation && readOperation(submit.operation, scope);
  if (values !== undefined) {
    const costMicros = submit.cost(scope);
    const job: Job = {
      ...{ flow: flow.name, kind, submitted_at: now(), values },
      ...(costMicros !== undefined && { cost_micros: costMicros }),
    };
    return {
      kind: "operation",
      operation: job as unknown as Json,
      jobId: jobIdOf(connection.upstream, values),
      pollAfterMs: pollAfterMs(submit.pollAfter, scope),
    };
  }
  const lacking = submit.operation === undefined ? "the outputs" : "what the form takes for its operation";
  try {
    const making = submit.making?.(answer, scope, kind);
    if (making !== undefined) return { kind: "outputs", ...making };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const detail = `${describeAnswer(connection.upstream, answer)}, but without ${lacking}: ${error.message}`;
    throw unusableAnswer(connection.upstream.scrub(detail));
  }
  const word = compiled.refusals.code(answer);
  throw unusableAnswer(`${describeAnswer(connection.upstream, answer, { word })}, but without ${lacking}`);
}

/** What people can ask the upstream for: the operation's `id`, or its first value. An address is none, and may be what opens it. */
export function jobIdOf({ scrub }: Upstream, values: Job["values"]): string | undefined {
  const id = values.id ?? Object.values(values)[0];
  return id === undefined || /^https?:/i.test(String(id)) ? undefined : scrub(String(id));
}

/** The flow that takes a request, and what its expressions see. @throws ProviderError `reroute` when none does */
export function chooseFlow(
  { flows, form }: CompiledForm,
  { scope }: Pick<Connection, "scope">,
  request: Omit<SubmitRequest, "inputs">,
): { readonly flow: CompiledFlow; readonly scope: Scope } {
  const { attempt, upstreamModel } = request;
  const { kind, mode, n, prompt, parameters } = request.request;
  const seen: Scope = {
    ...scope,
    ...{ kind, mode, n: BigInt(n), model: upstreamModel, attempt, params: parameters },
    ...{ prompt: prompt ?? ABSENT, fields: {} },
  };
  const flow = flows.find((each) => each.takes(seen));
  if (flow === undefined) throw unsayable(`no flow of ${form.provider} takes ${mode} of ${upstreamModel}`);
  return { flow, scope: seen };
}

/** @throws ProviderError `reroute` for a request that the upstream would change without a word */
function refuseChanged({ refuses }: CompiledForm, scope: Scope, files: Files): void {
  for (const { applies, because } of refuses) {
    try {
      if (applies.evaluate(scope, files.values) === true) throw unsayable(because);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw unsayable(error.message);
    }
  }
}

/** Adds the request in the words of its route, where the form asks for it. */
function withFields(compiled: CompiledForm, request: SubmitRequest, scope: Scope, files: Files): Scope {
  if (!compiled.readsFields) return scope;
  const worded = wordRequest(request);
  const placed = worded.inputs.map(({ field, isList, files: inputs }) => {
    const uris = inputs.map((input: InputFile) => files.values[request.inputs.indexOf(input)]?.uri ?? "");
    return [field, isList ? uris : uris[0]];
  });
  return { ...scope, fields: { ...worded.fields, ...Object.fromEntries(placed) } };
}

function unsayable(message: string): ProviderError {
  return new ProviderError("reroute", "NO_ROUTE_AVAILABLE", `The request cannot be worded: ${message}.`);
}
