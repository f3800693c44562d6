import type { Endpoint } from "../exchange.ts";
import { managedAccountEndpoints } from "./accounts/routes.ts";
import { type KeyEndpointDeps, keyEndpoints } from "./keys/routes.ts";
import { moneyEndpoints } from "./money/routes.ts";
import { tokenEndpoints } from "./tokens/routes.ts";

export type AdminDeps = KeyEndpointDeps;

/** /admin/v1/*: what `svc keys`, `svc accounts` and `svc tokens` do, for management tokens. Secrets are shown once. */
export function adminEndpoints(deps: AdminDeps): Endpoint[] {
  return [
    ...keyEndpoints(deps),
    ...managedAccountEndpoints(deps),
    ...moneyEndpoints(deps),
    ...tokenEndpoints(deps),
  ];
}
