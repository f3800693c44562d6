import type { Holdings, LeftBehind } from "./holdings.ts";
import type { Here, PlanItem } from "./plan.ts";

/**
 * Keys that were brought before and are valid here, although they could not come today: they are blocked, have ended or are gone
 * there since. Nothing is done about them, but they are told.
 * @returns these, and what else is left behind
 */
export function outlivedKeys(
  { keys, left }: Pick<Holdings, "keys" | "left">,
  here: Here,
): { readonly items: readonly PlanItem[]; readonly left: readonly LeftBehind[] } {
  const valid = new Map(
    here.keys.filter(({ revokedAt }) => revokedAt === undefined).map((key) => [key.id, key.name]),
  );
  const come = new Set(keys.map(({ origin }) => origin));
  const outlived = here.marks.filter(
    ({ kind, origin, target }) => kind === "key" && valid.has(target) && !come.has(origin),
  );
  const why = new Map(left.map((each) => [each.keyOrigin, each.why]));
  const items = outlived.map(({ origin, target }): PlanItem => {
    const name = valid.get(target) ?? target;
    const reason = why.get(origin) ?? "it is not there any more";
    const note = `${reason}; it came before, and goes on here until svc keys revoke ${target}`;
    return { kind: "key", from: name, to: name, action: "here", note };
  });
  const told = new Set<string | undefined>(outlived.map(({ origin }) => origin));
  return { items, left: left.filter(({ keyOrigin }) => !told.has(keyOrigin)) };
}
