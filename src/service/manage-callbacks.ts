import type { Actor, Operator } from "../domain/access/actor.ts";
import { mustBe } from "../domain/errors.ts";
import { isId } from "../domain/ids.ts";
import type { AccountStore } from "../domain/ports/account-store.ts";
import type {
  ManagedCallback,
  ManagedCallbackFilter,
  ManagedCallbackPage,
} from "../domain/ports/callback-store.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import { type CallbackSelection, checkSelection } from "./list-callbacks.ts";
import { findStoredKey } from "./manage-keys.ts";
import { actNow, notFound } from "./management.ts";
import { type CallbackReading, type ReadCallbackDeps, readRest } from "./read-callback.ts";
import {
  exhausted,
  MAX_REDELIVERIES,
  type RedeliverDeps,
  redeliverOne,
  requireSelection,
} from "./redeliver-callbacks.ts";

export interface ManageCallbacksDeps extends ReadCallbackDeps, Omit<RedeliverDeps, "act"> {
  /** Who acts. */
  readonly actor: Actor;
  readonly clock: Pick<Clock, "now">;
  readonly accounts: Pick<AccountStore, "account" | "key" | "keysNamed">;
}

/** The callbacks that an operator selects, as given. */
export interface ManagedSelection extends CallbackSelection {
  /** Id or name; all accounts unless given. */
  readonly account?: string | undefined;
  /** Id or name of the key that created their tasks. */
  readonly key?: string | undefined;
}

/**
 * What an operator can do with the callbacks of all accounts. Refusals are AppErrors: `not_found` for unknown callbacks,
 * accounts and keys, `invalid_request` for an unusable selection.
 */
export function createManageCallbacks(deps: ManageCallbacksDeps) {
  const { callbacks } = deps;
  const redelivering = (): RedeliverDeps => ({ ...deps, act: actNow(deps) });
  async function find(id: string): Promise<ManagedCallback> {
    const found = isId("cb", id) ? await callbacks.managedCallbacks({ id, limit: 1 }) : undefined;
    return found?.callbacks[0] ?? notFound("callback", id);
  }
  return {
    /**
     * Newest first. A page can be short, even empty, without being the last.
     * @param query.limit ≥ 1
     */
    async list(query: ManagedSelection & { readonly limit: number }): Promise<ManagedCallbackPage> {
      return callbacks.managedCallbacks({ ...(await filterOf(deps, query)), limit: query.limit });
    },
    /** With its payload and every send. */
    async read(id: string): Promise<CallbackReading<ManagedCallback>> {
      return readRest(deps, await find(id));
    },
    /** Sends a callback once more, as its owner would. @throws AppError `invalid_request` at the limit of redeliveries */
    async redeliver(id: string): Promise<ManagedCallback> {
      const found = await find(id);
      return { ...found, ...((await redeliverOne(redelivering(), found)) ?? exhausted()) };
    },
    /**
     * Sends the callback of a task once more, or the callbacks of a time range: those on one page of the list. @returns the
     * callbacks that are sent again, without those at the limit of redeliveries
     */
    async redeliverPage(selection: ManagedSelection): Promise<ManagedCallbackPage> {
      requireSelection(selection);
      const filter = await filterOf(deps, selection);
      const page = await callbacks.managedCallbacks({ ...filter, limit: MAX_REDELIVERIES });
      // They are requested in one turn of the event loop, so that they share a commit.
      const asked = await Promise.all(page.callbacks.map((each) => redeliverOne(redelivering(), each)));
      return {
        ...page,
        callbacks: page.callbacks.flatMap((found, i) => {
          const sent = asked[i];
          return sent === undefined ? [] : [{ ...found, ...sent }];
        }),
      };
    },
  };
}

export type ManageCallbacks = ReturnType<typeof createManageCallbacks>;
/** The same for the actor of a management token. */
export type ManageCallbacksAs = (operator: Operator) => ManageCallbacks;

async function filterOf(
  { accounts, callbacks }: ManageCallbacksDeps,
  { account, key, ...selection }: ManagedSelection,
): Promise<Omit<ManagedCallbackFilter, "limit">> {
  const { after } = selection;
  const checked = checkSelection(selection);
  const last = after !== undefined && isId("cb", after) ? await callbacks.byId(after) : undefined;
  if (after !== undefined && last === undefined) throw mustBe("after", { form: "cursor" }, after);
  const owner = account === undefined ? undefined : await accounts.account(account);
  if (account !== undefined && owner === undefined) notFound("account", account);
  const creator = key === undefined ? undefined : await findStoredKey({ accounts }, key);
  // A key belongs to one account, whose index finds the callbacks faster.
  return { ...checked, accountId: owner?.id ?? creator?.accountId, keyId: creator?.id, after: last?.id };
}
