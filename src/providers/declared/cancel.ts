import type { Json } from "../../domain/json.ts";
import { ProviderError } from "../../domain/ports/provider.ts";
import { unansweredQuestion } from "../kit/classify.ts";
import { ExpressionError } from "./fences.ts";
import { type Asking, jobOf, question } from "./job.ts";
import { textIn } from "./reading.ts";

/** Asks the upstream to stop a job. @returns `unable` when it cannot be stopped now @throws ProviderError `retry` */
export async function cancelDeclared(
  asking: Asking,
  operation: Json,
  signal: AbortSignal,
): Promise<"unable" | undefined> {
  const { compiled, connection } = asking;
  const { job, flow } = jobOf(compiled, operation);
  const { cancel, poll } = flow;
  if (cancel === undefined) return "unable";
  const scope = { operation: job.values };
  if (cancel.while !== undefined && poll !== undefined) {
    const seen = await question(asking, poll, scope, signal);
    if (!cancel.while.has(textIn(poll.status, seen.scope) ?? "")) return "unable";
  }
  try {
    const answer = await connection.ask(cancel.call, scope, {}, signal);
    // Any other refusal means that the job is over or unknown, and the next poll says which.
    if (!AGAIN.has(answer.status) && answer.status < 500) return undefined;
    const { detail, retryAfterMs } = compiled.refusals.read(connection.upstream, answer);
    throw new ProviderError("retry", "UPSTREAM_ERROR", detail, { retryAfterMs });
  } catch (error) {
    if (error instanceof ExpressionError) return "unable";
    return unansweredQuestion(error);
  }
}

const AGAIN: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);
