import type { ApiKey } from "../../../domain/access/account.ts";
import { KEY_TERMS } from "../../../domain/access/key-policy.ts";
import { keyForm } from "../../../domain/access/record-form.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { KeyTerms } from "../../../service/key-terms.ts";
import type { ManageAccounts } from "../../../service/manage-account.ts";
import type { ChangedKey } from "../../../service/manage-keys.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { readTerms } from "../terms.ts";
import { KEY_CHANGE, KEYS, KEYS_QUERY, NEW_KEY, ROTATION } from "./wire.ts";

type KeyEndpointDeps = { readonly manage: ManageAccounts; readonly clock: Pick<Clock, "now"> };

/** /admin/v1/keys. */
export function keyEndpoints({ manage, clock }: KeyEndpointDeps): Endpoint[] {
  const present = (key: ApiKey) => keyForm(key, clock.now());
  const presentChanged = ({ record, callbackSecret }: ChangedKey) =>
    callbackSecret === undefined ? present(record) : { ...present(record), callback_secret: callbackSecret };
  return [
    managed("GET", "/admin/v1/keys", KEYS.list, async ({ query }) => {
      const { account } = checkQuery(KEYS_QUERY, query()) as { account?: string };
      return success({ keys: (await manage.listKeys(account)).map(present) });
    }),
    managed("POST", "/admin/v1/keys", KEYS.create, async (exchange) => {
      const body = await readBody<KeyBody & { name: string; account?: string }>(exchange, NEW_KEY);
      const { name, account } = body;
      const { key, ...made } = await manage.createKey({ ...termsOf(body), name, account });
      return success({ ...presentChanged(made), key });
    }),
    managed("GET", "/admin/v1/keys/:id", KEYS.read, async ({ param }) =>
      success(present(await manage.showKey(param("id")))),
    ),
    managed("PATCH", "/admin/v1/keys/:id", KEYS.update, async (exchange) => {
      const body = await readBody<KeyBody>(exchange, KEY_CHANGE);
      return success(presentChanged(await manage.updateKey(exchange.param("id"), termsOf(body))));
    }),
    managed("POST", "/admin/v1/keys/:id/rotate", KEYS.rotate, async (exchange) => {
      const { request, param } = exchange;
      const body =
        request.body === null ? {} : await readBody<{ grace_seconds?: number }>(exchange, ROTATION);
      const graceMs = (body.grace_seconds ?? 0) * 1000;
      const { key, record } = await manage.rotateKey(param("id"), { graceMs });
      return success({ ...present(record), key });
    }),
    managed("POST", "/admin/v1/keys/:id/revoke", KEYS.revoke, async ({ param }) =>
      success(present(await manage.revokeKey(param("id")))),
    ),
  ];
}

/** The terms of a key beside those of its table. */
interface KeyBody {
  readonly callback_secret?: string | null;
  readonly callback_secret_grace_seconds?: number;
}

function termsOf(body: KeyBody): KeyTerms {
  const { callback_secret: callbackSecret, callback_secret_grace_seconds: graceSec } = body;
  const callbackSecretGraceMs = graceSec === undefined ? undefined : graceSec * 1000;
  return { ...readTerms(KEY_TERMS, body), callbackSecret, callbackSecretGraceMs };
}
