import { type ReadAccountDeps, readAccount } from "../../service/read-account.ts";
import { type Endpoint, polled } from "../exchange.ts";
import { success } from "../reply.ts";
import { presentStatus } from "./present.ts";
import { READ_ACCOUNT_STATUS } from "./wire.ts";

/** GET /v1/account/status: balance, limits and usage of the caller. */
export function accountEndpoints(deps: ReadAccountDeps): Endpoint[] {
  return [
    polled("/v1/account/status", READ_ACCOUNT_STATUS, async ({ principal }) =>
      success(presentStatus(await readAccount(deps, principal))),
    ),
  ];
}
