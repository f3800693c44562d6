import type { Operator } from "../../domain/access/actor.ts";
import type { Scope } from "../../domain/access/token-terms.ts";
import { AppError } from "../../domain/errors.ts";

/** For endpoints that every valid token may use. */
const ANY = undefined;

/**
 * What a management token must have for each endpoint that takes one. Endpoints that change nothing need `read`. An endpoint
 * that is missing here cannot be created.
 */
const SCOPE_OF: ReadonlyMap<string, Scope | undefined> = new Map<string, Scope | undefined>([
  ["GET /admin/v1/token", ANY],

  ["GET /admin/v1/accounts", "read"],
  ["GET /admin/v1/accounts/:id", "read"],
  ["GET /admin/v1/accounts/:id/ledger", "read"],
  ["GET /admin/v1/assets", "read"],
  ["GET /admin/v1/assets/gc", "read"],
  ["GET /admin/v1/assets/verify", "read"],
  ["GET /admin/v1/audit", "read"],
  ["GET /admin/v1/audit-log", "read"],
  ["GET /admin/v1/backups", "read"],
  ["GET /admin/v1/callbacks", "read"],
  ["GET /admin/v1/callbacks/:id", "read"],
  ["GET /admin/v1/config", "read"],
  ["GET /admin/v1/database", "read"],
  ["GET /admin/v1/events", "read"],
  ["GET /admin/v1/history", "read"],
  ["GET /admin/v1/keys", "read"],
  ["GET /admin/v1/keys/:id", "read"],
  ["GET /admin/v1/log/level", "read"],
  ["GET /admin/v1/models", "read"],
  ["GET /admin/v1/models/:model", "read"],
  ["GET /admin/v1/models/:model/manifest", "read"],
  ["POST /admin/v1/models/check", "read"],
  ["GET /admin/v1/nodes", "read"],
  ["GET /admin/v1/overview", "read"],
  ["GET /admin/v1/pricing", "read"],
  ["GET /admin/v1/pricing/:model", "read"],
  ["POST /admin/v1/pricing/:model/quote", "read"],
  ["GET /admin/v1/providers", "read"],
  ["GET /admin/v1/providers/:id", "read"],
  ["GET /admin/v1/quotas", "read"],
  ["GET /admin/v1/readiness", "read"],
  ["GET /admin/v1/routes", "read"],
  ["POST /admin/v1/routes/explain", "read"],
  ["GET /admin/v1/sessions", "read"],
  ["GET /admin/v1/tasks", "read"],
  ["GET /admin/v1/tasks/:id", "read"],
  ["GET /admin/v1/tasks/:id/trace", "read"],
  ["GET /admin/v1/tasks/:id/tree", "read"],
  ["GET /admin/v1/tokens", "read"],
  ["GET /admin/v1/usage", "read"],
  ["GET /metrics", "read"],

  ["POST /admin/v1/keys", "keys"],
  ["PATCH /admin/v1/keys/:id", "keys"],
  ["POST /admin/v1/keys/:id/rotate", "keys"],
  ["POST /admin/v1/keys/:id/revoke", "keys"],
  ["POST /admin/v1/accounts/:id/suspend", "keys"],
  ["POST /admin/v1/accounts/:id/activate", "keys"],

  // An account may be unlimited, so creating one can give money away.
  ["POST /admin/v1/accounts", "money"],
  ["PATCH /admin/v1/accounts/:id", "money"],
  ["POST /admin/v1/accounts/:id/credit", "money"],
  ["POST /admin/v1/tasks/:id/refund", "money"],
  ["PATCH /admin/v1/pricing/:model", "money"],
  ["POST /admin/v1/pricing/:model/reset", "money"],

  ["POST /admin/v1/accounts/:id/purge", "system"],
  ["POST /admin/v1/alerts/test", "system"],
  ["POST /admin/v1/assets/gc", "system"],
  ["POST /admin/v1/assets/verify", "system"],
  ["POST /admin/v1/backups", "system"],
  ["POST /admin/v1/callbacks/redeliver", "system"],
  ["PUT /admin/v1/models/:model/manifest", "system"],
  ["DELETE /admin/v1/models/:model/manifest", "system"],
  ["POST /admin/v1/callbacks/:id/redeliver", "system"],
  ["POST /admin/v1/log/level", "system"],
  ["POST /admin/v1/moderation/test", "system"],
  ["POST /admin/v1/providers/:id/add", "system"],
  ["POST /admin/v1/providers/:id/remove", "system"],
  ["POST /admin/v1/providers/:id/test", "system"],
  ["POST /admin/v1/routes/allow", "system"],
  ["POST /admin/v1/routes/block", "system"],
  ["POST /admin/v1/tasks/:id/cancel", "system"],
  ["POST /admin/v1/reload", "system"],
  ["POST /admin/v1/sessions", "system"],
  ["POST /admin/v1/sessions/:id/end", "system"],
  ["POST /admin/v1/tokens", "system"],
  ["POST /admin/v1/tokens/:id/revoke", "system"],
]);

/** @throws Error for an endpoint that the table above does not name */
export function scopeOf(method: string, path: string): Scope | undefined {
  const endpoint = `${method} ${path}`;
  if (SCOPE_OF.has(endpoint)) return SCOPE_OF.get(endpoint);
  throw new Error(`${endpoint} has no scope: name one in src/http/admin/scopes.ts.`);
}

/** @throws AppError `permission_denied` that names the scope */
export function requireScope({ scopes }: Operator, scope: Scope): void {
  if (scopes.includes(scope)) return;
  throw new AppError("permission_denied", { kind: "scope_missing", scope, has: scopes });
}
