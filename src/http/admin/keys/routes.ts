import type { ApiKey } from "../../../domain/access/account.ts";
import { KEY_TERMS } from "../../../domain/access/key-policy.ts";
import { keyForm } from "../../../domain/access/record-form.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { KeyTerms } from "../../../service/key-terms.ts";
import type { ManageAccounts } from "../../../service/manage-account.ts";
import type { ChangedKey } from "../../../service/manage-keys.ts";
import { readBody } from "../../body.ts";
import type { Endpoint } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { managed } from "../managed.ts";
import { readTerms } from "../terms.ts";
import {
  CREATE_KEY,
  KEY_CHANGE,
  KEYS_QUERY,
  LIST_KEYS,
  NEW_KEY,
  READ_KEY,
  REVOKE_KEY,
  ROTATE_KEY,
  ROTATION,
  UPDATE_KEY,
} from "./wire.ts";

export interface KeyEndpointDeps {
  readonly manage: ManageAccounts;
  readonly clock: Pick<Clock, "now">;
}

/** /admin/v1/keys. */
export function keyEndpoints({ manage, clock }: KeyEndpointDeps): Endpoint[] {
  const present = (key: ApiKey) => keyForm(key, clock.now());
  const presentChanged = ({ record, callbackSecret }: ChangedKey) =>
    callbackSecret === undefined ? present(record) : { ...present(record), callback_secret: callbackSecret };
  return [
    managed("GET", "/admin/v1/keys", LIST_KEYS, async ({ query }) => {
      const { account } = checkQuery(KEYS_QUERY, query()) as { account?: string };
      return success({ keys: (await manage.listKeys(account)).map(present) });
    }),
    managed("POST", "/admin/v1/keys", CREATE_KEY, async ({ request }) => {
      const body = await readBody<KeyBody & { name: string; account?: string }>(request, NEW_KEY);
      const { name, account } = body;
      const { key, ...made } = await manage.createKey({ ...termsOf(body), name, account });
      return success({ ...presentChanged(made), key });
    }),
    managed("GET", "/admin/v1/keys/:id", READ_KEY, async ({ param }) =>
      success(present(await manage.showKey(param("id")))),
    ),
    managed("PATCH", "/admin/v1/keys/:id", UPDATE_KEY, async ({ request, param }) => {
      const body = await readBody<KeyBody>(request, KEY_CHANGE);
      return success(presentChanged(await manage.updateKey(param("id"), termsOf(body))));
    }),
    managed("POST", "/admin/v1/keys/:id/rotate", ROTATE_KEY, async ({ request, param }) => {
      const body = request.body === null ? {} : await readBody<{ grace_seconds?: number }>(request, ROTATION);
      const graceMs = (body.grace_seconds ?? 0) * 1000;
      const { key, record } = await manage.rotateKey(param("id"), { graceMs });
      return success({ ...present(record), key });
    }),
    managed("POST", "/admin/v1/keys/:id/revoke", REVOKE_KEY, async ({ param }) =>
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
