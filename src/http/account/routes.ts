import type { AccountStore } from "../../domain/ports/account-store.ts";
import type { UsageStore } from "../../domain/ports/usage-store.ts";
import { type ReadAccountDeps, readAccount } from "../../service/read-account.ts";
import { readOwnUsage } from "../../service/read-own-usage.ts";
import { type Endpoint, polled } from "../exchange.ts";
import { success } from "../reply.ts";
import { checkQuery } from "../wire/check.ts";
import { readUsageQuery, type UsageParameters } from "../wire/usage.ts";
import { presentOwnUsage, presentStatus } from "./present.ts";
import { OWN_USAGE_QUERY, READ_ACCOUNT_STATUS, READ_OWN_USAGE } from "./wire.ts";

export interface AccountEndpointDeps extends ReadAccountDeps {
  readonly accounts: ReadAccountDeps["accounts"] & Pick<AccountStore, "keyNames">;
  /** Sums up in another thread. */
  readonly audits: Pick<UsageStore, "report">;
}

/** GET /v1/account/status: balance, limits and usage of the caller. GET /v1/usage: what a plot of it needs. */
export function accountEndpoints(deps: AccountEndpointDeps): Endpoint[] {
  return [
    polled("/v1/account/status", READ_ACCOUNT_STATUS, async ({ principal }) =>
      success(presentStatus(await readAccount(deps, principal))),
    ),
    polled(
      "/v1/usage",
      READ_OWN_USAGE,
      async ({ principal, query }) => {
        const asked = readUsageQuery(checkQuery(OWN_USAGE_QUERY, query()) as UsageParameters);
        return success(
          presentOwnUsage(await readOwnUsage({ ...deps, usage: deps.audits }, principal, asked)),
        );
      },
      "lists",
    ),
  ];
}
