import { TRAIL_ACTIONS } from "../domain/access/trail.ts";
import { mustBe } from "../domain/errors.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type { TrailPage, TrailStore } from "../domain/ports/trail-store.ts";
import { momentOf } from "./moment.ts";

/** The entries of the trail that a reader selects, as given. */
export interface TrailQuery {
  /** Id or name of a token; `local`, `file` or `system`. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** Id of what was changed, or the name of an account, a key or a token. */
  readonly object?: string | undefined;
  /** ISO 8601, or Unix seconds as text. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** ≥ 1. */
  readonly limit: number;
  /** The cursor of the previous page. */
  readonly after?: string | undefined;
}

export interface ReadTrailDeps {
  readonly trail: TrailStore;
  readonly accounts: Pick<AccountStore, "account" | "key" | "keysNamed" | "token" | "revokedToken">;
}

/** Reads who changed what, newest first. @throws AppError `invalid_request` for an invalid action, time or cursor */
export function createReadTrail({ trail, accounts }: ReadTrailDeps) {
  // What is revoked can still be found by its name. If several have the name, the latest is meant.
  const tokenOf = async (given: string) =>
    (await accounts.token(given)) ?? (await accounts.revokedToken(given));
  const keyOf = async (given: string) =>
    (await accounts.key(given)) ?? (await accounts.keysNamed(given, 1))[0];
  const actorOf = async (given: string) => (await tokenOf(given))?.id ?? given;
  const objectOf = async (given: string) => {
    const found = (await accounts.account(given)) ?? (await keyOf(given)) ?? (await tokenOf(given));
    return found?.id ?? given;
  };
  return async ({ actor, action, object, since, until, limit, after }: TrailQuery): Promise<TrailPage> => {
    if (action !== undefined && !Object.hasOwn(TRAIL_ACTIONS, action))
      throw mustBe("action", { oneOf: Object.keys(TRAIL_ACTIONS) }, action);
    if (after !== undefined && !/^\d{1,15}$/.test(after)) throw mustBe("after", { form: "cursor" }, after);
    return trail.page({
      actor: actor === undefined ? undefined : await actorOf(actor),
      action,
      object: object === undefined ? undefined : await objectOf(object),
      since: momentOf("since", since),
      until: momentOf("until", until),
      limit,
      after: after === undefined ? undefined : Number(after),
    });
  };
}
export type ReadTrail = ReturnType<typeof createReadTrail>;
