import { ask } from "./ask.ts";
import type { Operations, Schemas } from "./published.d.ts";

/** As many as one page may have. */
const PAGE = 1_000;

/** Reads a list page by page, so that the service answers others in between. */
async function all<Item, Found extends { readonly next: string | null }>(
  readPage: (page: { limit: number; after?: string }) => Promise<Found>,
  itemsOf: (page: Found) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = await readPage({ limit: PAGE }); ; ) {
    for (const item of itemsOf(page)) items.push(item);
    if (typeof page.next !== "string") return items;
    page = await readPage({ limit: PAGE, after: page.next });
  }
}

/** Every account, the oldest first. @throws ApiProblem */
export const allAccounts = (signal?: AbortSignal): Promise<Schemas["Account"][]> =>
  all(
    (query) => ask("GET /admin/v1/accounts", { query }, { signal }),
    ({ accounts }) => accounts,
  );

/** Every key, of one account or of all, the oldest first. @throws ApiProblem */
export const allKeys = (account?: string, signal?: AbortSignal): Promise<Schemas["ListedApiKey"][]> =>
  all(
    (query) =>
      ask(
        "GET /admin/v1/keys",
        { query: { ...query, ...(account === undefined ? {} : { account }) } },
        { signal },
      ),
    ({ keys }) => keys,
  );

export type Quota = Operations["GET /admin/v1/quotas"]["data"]["quotas"][number];

/** What is left of the quotas of active keys, of one account or of all, the oldest key first. @throws ApiProblem */
export const allQuotas = (account: string, signal?: AbortSignal): Promise<Quota[]> =>
  all(
    (query) => ask("GET /admin/v1/quotas", { query: { ...query, account } }, { signal }),
    ({ quotas }) => quotas,
  );
