import { ask } from "../../api/ask.ts";
import type { Listed, PageQuery } from "../../api/pages.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { Schemas } from "../../api/published.d.ts";

export type ApiKey = Schemas["ApiKey"];
type Account = Schemas["Account"];

/** Which keys are shown; the address has the same names. */
export interface Filters {
  readonly account: string;
  readonly state: string;
  readonly find: string;
}

/** The days of which the list says what keys spent, today included. */
export const SPENT_DAYS = 31;

/** A key of the list: whose it is, and what it spent. */
export interface ListedKey {
  readonly key: Schemas["ListedApiKey"];
  readonly account: Pick<Account, "id" | "name">;
}

/** A page of the keys of an account, by its id or name, or of all; none where there is no such account. @throws ApiProblem */
export async function readKeys(
  account: string,
  page: PageQuery,
  signal?: AbortSignal,
): Promise<Listed<ListedKey>> {
  try {
    const { keys, next } = await ask(
      "GET /admin/v1/keys",
      { query: { ...page, account, charged_days: SPENT_DAYS } },
      { signal },
    );
    const items = keys.map((key) => ({ key, account: { id: key.account_id, name: key.account } }));
    return { items, next };
  } catch (problem) {
    if (problem instanceof ApiProblem && problem.code === "not_found") return { items: [], next: null };
    throw problem;
  }
}

/** Those that fit. Revoked ones are left out unless asked for. */
export function fitting(keys: readonly ListedKey[], { state, find }: Omit<Filters, "account">): ListedKey[] {
  const wanted = find.toLowerCase();
  return keys.filter(
    ({ key }) =>
      (state === "all" || (state === "" ? key.status !== "revoked" : key.status === state)) &&
      [key.name, key.display, key.id].some((text) => text.toLowerCase().includes(wanted)),
  );
}

/** A key's limits in a few words; undefined without any. */
export function limitsText(key: ApiKey): string | undefined {
  const parts = [
    key.requests_per_minute === null ? undefined : `${key.requests_per_minute} a minute`,
    key.concurrency === null ? undefined : `${key.concurrency} at once`,
    key.models === null ? undefined : key.models.join(", "),
    key.features === null ? undefined : key.features.join(", "),
    key.allow_ips === null ? undefined : "some addresses",
  ];
  const there = parts.filter((part) => part !== undefined);
  return there.length === 0 ? undefined : there.join(" · ");
}
