import type { ApiKey } from "../../../domain/access/account.ts";
import { KEY_TERMS } from "../../../domain/access/key-policy.ts";
import { keyForm } from "../../../domain/access/record-form.ts";
import { formatAmount } from "../../../domain/money/money.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { KeyTerms } from "../../../service/key-terms.ts";
import type { ManageAs } from "../../../service/manage-account.ts";
import type { ChangedKey, KeyListQuery, ListedKey } from "../../../service/manage-keys.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, type ManagedExchange, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { checkQuery } from "../../wire/check.ts";
import { listed } from "../lists.ts";
import { requireScope } from "../scopes.ts";
import { readTerms } from "../terms.ts";
import { KEY_CHANGE, KEYS, KEYS_QUERY, NEW_KEY, ROTATION } from "./wire.ts";

type KeysQuery = Omit<KeyListQuery, "chargedDays"> & { charged_days?: number };

type KeyEndpointDeps = { readonly manageAs: ManageAs; readonly clock: Pick<Clock, "now"> };

/** /admin/v1/keys. */
export function keyEndpoints({ manageAs, clock }: KeyEndpointDeps): Endpoint[] {
  const present = (key: ApiKey) => keyForm(key, clock.now());
  const presentListed = (key: ListedKey) => ({
    ...present(key),
    account: key.accountName,
    ...(key.charged === undefined ? {} : { charged: formatAmount(key.charged) }),
  });
  const presentChanged = ({ record, callbackSecret }: ChangedKey) =>
    callbackSecret === undefined ? present(record) : { ...present(record), callback_secret: callbackSecret };
  return [
    managed("GET", "/admin/v1/keys", KEYS.list, async ({ operator, query }) => {
      const { charged_days: chargedDays, ...page } = checkQuery(KEYS_QUERY, query()) as KeysQuery;
      return listed("keys", manageAs(operator).listKeys({ ...page, chargedDays }), presentListed);
    }),
    managed("POST", "/admin/v1/keys", KEYS.create, async (exchange) => {
      const body = await readBody<KeyBody & { name: string; account?: string }>(exchange, NEW_KEY);
      requirePrice(exchange, body);
      const { name, account } = body;
      const { key, ...made } = await manageAs(exchange.operator).createKey({
        ...termsOf(body),
        name,
        account,
      });
      return success({ ...presentChanged(made), key });
    }),
    managed("GET", "/admin/v1/keys/:id", KEYS.read, async ({ operator, param }) =>
      success(present(await manageAs(operator).showKey(param("id")))),
    ),
    managed("PATCH", "/admin/v1/keys/:id", KEYS.update, async (exchange) => {
      const body = await readBody<KeyBody>(exchange, KEY_CHANGE);
      requirePrice(exchange, body);
      const changed = await manageAs(exchange.operator).updateKey(exchange.param("id"), termsOf(body));
      return success(presentChanged(changed));
    }),
    managed("POST", "/admin/v1/keys/:id/rotate", KEYS.rotate, async (exchange) => {
      const { operator, request, param } = exchange;
      const body =
        request.body === null ? {} : await readBody<{ grace_seconds?: number }>(exchange, ROTATION);
      const graceMs = (body.grace_seconds ?? 0) * 1000;
      const { key, record } = await manageAs(operator).rotateKey(param("id"), { graceMs });
      return success({ ...present(record), key });
    }),
    managed("POST", "/admin/v1/keys/:id/revoke", KEYS.revoke, async ({ operator, param }) =>
      success(present(await manageAs(operator).revokeKey(param("id")))),
    ),
  ];
}

/** The terms of a key that are not in its table. */
interface KeyBody {
  readonly callback_secret?: string | null;
  readonly callback_secret_grace_seconds?: number;
}

/** The price of a key is money. @throws AppError `permission_denied` if the token may not set it */
function requirePrice({ operator }: ManagedExchange, body: object): void {
  if (KEY_TERMS.priceMultiplier.wire in body) requireScope(operator, "money");
}

function termsOf(body: KeyBody): KeyTerms {
  const { callback_secret: callbackSecret, callback_secret_grace_seconds: graceSec } = body;
  const callbackSecretGraceMs = graceSec === undefined ? undefined : graceSec * 1000;
  return { ...readTerms(KEY_TERMS, body), callbackSecret, callbackSecretGraceMs };
}
