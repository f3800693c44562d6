import type { JsonObject } from "../../src/domain/json.ts";
import type { Call } from "./exchange.ts";
import { type PageQuery, pageOf, pathWith } from "./made-from.ts";

type Ask = (request: Call) => Promise<{ readonly data: JsonObject; readonly headers: Headers }>;

/** Groups of tasks, of the key's account. */
export function groupCalls(call: Ask) {
  const pathOf = (id: string) => `/v1/groups/${encodeURIComponent(id)}`;
  return {
    createGroup: (body: JsonObject, idempotencyKey: string) =>
      call({ method: "POST", path: "/v1/groups", body, idempotencyKey }),
    group: async (id: string) => (await call({ method: "GET", path: pathOf(id) })).data,
    groups: async (query: PageQuery) =>
      pageOf((await call({ method: "GET", path: pathWith("/v1/groups", query) })).data, "groups"),
    cancelGroup: async (id: string) => (await call({ method: "POST", path: `${pathOf(id)}/cancel` })).data,
  };
}
