import { ask } from "../../api/ask.ts";
import { allKeys } from "../../api/lists.ts";
import type { Schemas } from "../../api/published.d.ts";
import { readTerms, type Term } from "../../api/terms.ts";

export type Account = Schemas["Account"];
export type LedgerPage = Schemas["Ledger"];
export type LedgerEntry = LedgerPage["entries"][number];

/** An account with what its screen shows beside it. */
export interface AccountInFull {
  readonly account: Account;
  readonly keys: readonly Schemas["ApiKey"][];
  readonly terms: readonly Term[];
}

/** @throws ApiProblem */
export async function readAccount(id: string, signal?: AbortSignal): Promise<AccountInFull> {
  const [account, keys, terms] = await Promise.all([
    ask("GET /admin/v1/accounts/{id}", { path: { id } }, { signal }),
    allKeys(id, signal),
    readTerms("PATCH /admin/v1/accounts/{id}"),
  ]);
  return { account, keys, terms };
}

const PAGE = 25;

/** A page of an account's ledger, newest first. @throws ApiProblem */
export function readLedger(id: string, before?: string, signal?: AbortSignal): Promise<LedgerPage> {
  return ask(
    "GET /admin/v1/accounts/{id}/ledger",
    { path: { id }, query: { limit: PAGE, ...(before === undefined ? {} : { before }) } },
    { signal },
  );
}
