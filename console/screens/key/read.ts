import { ask } from "../../api/ask.ts";
import type { Operations, Schemas } from "../../api/published.d.ts";
import { readTerms, type Term } from "../../api/terms.ts";

export type ApiKey = Schemas["ApiKey"];
export type Quota = Operations["GET /admin/v1/quotas"]["data"]["quotas"][number];

/** A key with what its screen shows beside it. */
export interface KeyInFull {
  readonly key: ApiKey;
  readonly account: Schemas["Account"];
  /** What is left of its quota; absent without one, and for a key that is not active. */
  readonly quota: Quota | undefined;
  readonly terms: readonly Term[];
}

/** What is set for most keys, in this order. */
export const FIRST_TERMS = [
  "quota",
  "expires_at",
  "requests_per_minute",
  "concurrency",
  "models",
  "features",
];

/** @throws ApiProblem */
export async function readKey(id: string, signal?: AbortSignal): Promise<KeyInFull> {
  const [key, terms] = await Promise.all([
    ask("GET /admin/v1/keys/{id}", { path: { id } }, { signal }),
    readTerms("PATCH /admin/v1/keys/{id}"),
  ]);
  const account = key.account_id;
  const [owner, { quotas }] = await Promise.all([
    ask("GET /admin/v1/accounts/{id}", { path: { id: account } }, { signal }),
    ask("GET /admin/v1/quotas", { query: { key_id: id } }, { signal }),
  ]);
  return { key, account: owner, quota: quotas[0], terms };
}
