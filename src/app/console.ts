import type { Config } from "../config/config.ts";
import { managedSessionEndpoints } from "../http/admin/sessions/routes.ts";
import { consoleEndpoints } from "../http/console/routes.ts";
import { type SessionEndpointDeps, sessionEndpoints } from "../http/console/session-routes.ts";
import type { Endpoint } from "../http/exchange.ts";
import { type ConsoleSessionDeps, createConsoleSessions } from "../service/console-session.ts";
import type { ManageAs } from "../service/manage-account.ts";
import { VERSION } from "../version.ts";

type Deps = ConsoleSessionDeps &
  Omit<SessionEndpointDeps, "consoleSessions" | "version"> & { readonly manageAs: ManageAs };

/** The console's page, its sign-in, and the endpoints with which operators manage sessions. */
export function consoleRoutes(config: Config, deps: Deps): Endpoint[] {
  const consoleSessions = createConsoleSessions(deps);
  return [
    // Registered before `/console/:screen`, which would match its path too.
    ...sessionEndpoints({ ...deps, consoleSessions, version: VERSION }),
    ...consoleEndpoints(originsOfResults(config)),
    ...managedSessionEndpoints(deps),
  ];
}

/** Results are at the public address, at whichever address the console is opened, or in a bucket that callers reach directly. */
function originsOfResults({ publicUrl, assets }: Config): string[] {
  const bucket = assets.serve === "proxy" ? undefined : assets.bucket?.endpoint;
  return [publicUrl, bucket].flatMap((url) => (url === undefined ? [] : [new URL(url).origin]));
}
