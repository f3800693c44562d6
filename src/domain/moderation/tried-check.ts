import type { JsonObject } from "../json.ts";
import type { Check, CheckVerdict } from "../ports/moderation.ts";

/** What a check says about a text, and how long it took. */
export type TriedCheck = Pick<Check, "name" | "onOutage"> & {
  readonly verdict: CheckVerdict;
  readonly ms: number;
};

/** Whether a request with the text would be refused because of what a check says. */
function isRefused({ verdict, onOutage }: Pick<TriedCheck, "verdict" | "onOutage">): boolean {
  return verdict.kind === "refused" || (verdict.kind === "outage" && onOutage === "refuse");
}

/** What checks say about a text, as operators see it. */
export function triedForm(tried: readonly TriedCheck[]): JsonObject {
  const refused = tried.find(isRefused);
  return { verdict: refused === undefined ? "allowed" : refused.verdict.kind, checks: tried.map(checkForm) };
}

function checkForm({ name, verdict, onOutage, ms }: TriedCheck): JsonObject {
  return {
    check: name,
    verdict: verdict.kind,
    rule: verdict.kind === "refused" ? (verdict.rule ?? null) : null,
    reason: verdict.kind === "outage" ? verdict.reason : null,
    on_outage: onOutage,
    ms: Math.round(ms * 1_000) / 1_000,
  };
}
