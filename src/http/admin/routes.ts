import type { ApiKey } from "../../domain/access/account.ts";
import { keyForm, tokenForm } from "../../domain/access/record-form.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { KeyTerms } from "../../service/key-terms.ts";
import type { ManageAccounts } from "../../service/manage-account.ts";
import type { ChangedKey } from "../../service/manage-keys.ts";
import type { Endpoint } from "../exchange.ts";
import { success } from "../reply.ts";
import { checkQuery } from "../wire/check.ts";
import { managedAccountEndpoints } from "./accounts.ts";
import {
  CREATE_KEY,
  CREATE_TOKEN,
  LIST_KEYS,
  LIST_TOKENS,
  READ_KEY,
  REVOKE_KEY,
  REVOKE_TOKEN,
  ROTATE_KEY,
  UPDATE_KEY,
} from "./contracts.ts";
import { amountOf, managed, multiplierOf, read } from "./managed.ts";
import { KEY_CHANGE, KEYS_QUERY, NEW_KEY, NEW_TOKEN, ROTATION } from "./wire.ts";

export interface AdminDeps {
  readonly manage: ManageAccounts;
  readonly clock: Pick<Clock, "now">;
}

/** /admin/v1/*: what `svc keys`, `svc accounts` and `svc tokens` do, for management tokens. Secrets are shown once. */
export function adminEndpoints(deps: AdminDeps): Endpoint[] {
  return [...keyEndpoints(deps), ...managedAccountEndpoints(deps), ...tokenEndpoints(deps)];
}

function keyEndpoints({ manage, clock }: AdminDeps): Endpoint[] {
  const present = (key: ApiKey) => keyForm(key, clock.now());
  const presentChanged = ({ record, callbackSecret }: ChangedKey) =>
    callbackSecret === undefined ? present(record) : { ...present(record), callback_secret: callbackSecret };
  return [
    managed("GET", "/admin/v1/keys", LIST_KEYS, async ({ query }) => {
      const { account } = checkQuery(KEYS_QUERY, query()) as { account?: string };
      return success({ keys: (await manage.listKeys(account)).map(present) });
    }),
    managed("POST", "/admin/v1/keys", CREATE_KEY, async ({ request }) => {
      const body = await read<KeyBody & { name: string; account?: string }>(request, NEW_KEY);
      const { name, account } = body;
      const { key, ...made } = await manage.createKey({ ...termsOf(body), name, account });
      return success({ ...presentChanged(made), key });
    }),
    managed("GET", "/admin/v1/keys/:id", READ_KEY, async ({ param }) =>
      success(present(await manage.showKey(param("id")))),
    ),
    managed("PATCH", "/admin/v1/keys/:id", UPDATE_KEY, async ({ request, param }) => {
      const body = await read<KeyBody>(request, KEY_CHANGE);
      return success(presentChanged(await manage.updateKey(param("id"), termsOf(body))));
    }),
    managed("POST", "/admin/v1/keys/:id/rotate", ROTATE_KEY, async ({ request, param }) => {
      const body = request.body === null ? {} : await read<{ grace_seconds?: number }>(request, ROTATION);
      const graceMs = (body.grace_seconds ?? 0) * 1000;
      const { key, record } = await manage.rotateKey(param("id"), { graceMs });
      return success({ ...present(record), key });
    }),
    managed("POST", "/admin/v1/keys/:id/revoke", REVOKE_KEY, async ({ param }) =>
      success(present(await manage.revokeKey(param("id")))),
    ),
  ];
}

function tokenEndpoints({ manage }: AdminDeps): Endpoint[] {
  return [
    managed("GET", "/admin/v1/tokens", LIST_TOKENS, async () =>
      success({ tokens: (await manage.listTokens()).map(tokenForm) }),
    ),
    managed("POST", "/admin/v1/tokens", CREATE_TOKEN, async ({ request }) => {
      const { token, record } = await manage.createToken(await read<{ name: string }>(request, NEW_TOKEN));
      return success({ ...tokenForm(record), token });
    }),
    managed("POST", "/admin/v1/tokens/:id/revoke", REVOKE_TOKEN, async ({ param }) =>
      success(tokenForm(await manage.revokeToken(param("id")))),
    ),
  ];
}

/** The limits of a key as its schema lets them through. */
interface KeyBody {
  readonly expires_at?: number | null;
  readonly models?: readonly string[] | null;
  readonly features?: readonly string[] | null;
  readonly allow_ips?: readonly string[] | null;
  readonly requests_per_minute?: number | null;
  readonly concurrency?: number | null;
  readonly aliases?: { readonly [alias: string]: string } | null;
  readonly response_format?: string | null;
  readonly sync_wait_seconds?: number | null;
  readonly quota?: { readonly limit?: string; readonly reset?: string } | null;
  readonly price_multiplier?: string | null;
  readonly callback_secret?: string | null;
  readonly callback_secret_grace_seconds?: number;
}

function termsOf(body: KeyBody): KeyTerms {
  const { expires_at: expiresAtSec, quota, callback_secret_grace_seconds: graceSec } = body;
  return {
    expiresAt: typeof expiresAtSec === "number" ? expiresAtSec * 1000 : expiresAtSec,
    models: body.models,
    features: body.features,
    allowIps: body.allow_ips,
    requestsPerMinute: body.requests_per_minute,
    concurrency: body.concurrency,
    aliases: body.aliases,
    responseFormat: body.response_format,
    syncWaitSec: body.sync_wait_seconds,
    quota: quota && { limit: amountOf("quota.limit", quota.limit), reset: quota.reset },
    priceMultiplier: multiplierOf("price_multiplier", body.price_multiplier),
    callbackSecret: body.callback_secret,
    callbackSecretGraceMs: graceSec === undefined ? undefined : graceSec * 1000,
  };
}
