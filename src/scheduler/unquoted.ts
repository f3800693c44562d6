import { type PollResult, ProviderError } from "../domain/ports/provider.ts";
import type { GenerationRequest } from "../domain/task/request.ts";
import { unquoted } from "../domain/task/unquoted.ts";

/** An error whose message quotes nothing of the request; the same one where it did not. What its task's owner is told stays. */
export function unquotedError(error: unknown, request: GenerationRequest): unknown {
  if (!(error instanceof Error)) return error;
  const message = unquoted(error.message, request);
  if (message === error.message) return error;
  if (!(error instanceof ProviderError)) return new Error(message);
  const { disposition, code, details, publicMessage } = error;
  return new ProviderError(disposition, code, message, { ...details, publicMessage });
}

/** An answer about a job whose detail quotes nothing of the request. What its task's owner is told stays. */
export function unquotedAnswer(answer: PollResult, request: GenerationRequest): PollResult {
  if (answer.kind !== "failed") return answer;
  const detail = answer.detail ?? answer.message;
  return detail === undefined ? answer : { ...answer, detail: unquoted(detail, request) };
}
