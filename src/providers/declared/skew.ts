import type { UpstreamAnswer } from "../kit/answer.ts";
import type { Refusal } from "../kit/refusal.ts";
import type { CompiledForm } from "./compiled-form.ts";

/** Tokens and signatures are valid within minutes. */
const SKEW_MS = 60_000;

/** Explains a refused key if the real cause is this machine's clock. */
export function explainRefusal(
  { compiled, now }: { readonly compiled: CompiledForm; readonly now: () => number },
  refusal: Refusal,
  { headers }: UpstreamAnswer,
): Refusal {
  if (refusal.meaning !== "refused" || !compiled.auth.some(({ isTimed }) => isTimed)) return refusal;
  const theirs = Date.parse(headers.get("date") ?? "");
  const apartMs = now() - theirs;
  if (!(Math.abs(apartMs) >= SKEW_MS)) return refusal;
  const minutes = Math.max(1, Math.round(Math.abs(apartMs) / 60_000));
  const where = apartMs > 0 ? "ahead of" : "behind";
  const clock = `the clock of this machine is ${minutes} min ${where} the upstream's, so that its credentials are not valid; set the clock`;
  return { ...refusal, detail: `${refusal.detail}: ${clock}` };
}
