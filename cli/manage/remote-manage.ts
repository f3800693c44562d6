import { ACCOUNT_TERMS } from "../../src/domain/access/account-terms.ts";
import { KEY_TERMS } from "../../src/domain/access/key-policy.ts";
import { TOKEN_TERMS } from "../../src/domain/access/token-terms.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { formatAmount } from "../../src/domain/money/money.ts";
import { formatDay, formatSplit } from "../../src/domain/money/usage.ts";
import { type AdminCalls, HARMLESS, type Repeat, segment } from "../client/admin.ts";
import { accountOf, entryOf, keyOf, quotaOf, sessionOf, tokenOf, usageReportOf } from "./answers.ts";
import { amountIn, objectIn, objectsIn, optionalTextIn, textIn } from "./fields.ts";
import type { Manage, ShownLedger } from "./port.ts";
import { getNewer, readPages } from "./remote-lists.ts";
import { termFieldsOf } from "./term-fields.ts";

/** The most that the API puts into one page of a ledger. */
const MAX_PAGE = 100;
/** The account of keys for which none is named. */
const DEFAULT_ACCOUNT = "default";

const lookAt = (check: string): Repeat => ({ kind: "never", check });

/** What operators do, on a server. Does what the data folder's own methods do, and refuses what they refuse. */
export function createRemoteManage(calls: AdminCalls): Manage {
  return {
    ...accountCalls(calls),
    ...moneyCalls(calls),
    ...keyCalls(calls),
    ...tokenCalls(calls),
    ...sessionCalls(calls),
  };
}

type AccountVerb =
  | "createAccount"
  | "listAccounts"
  | "readAccount"
  | "updateAccount"
  | "suspendAccount"
  | "activateAccount";

function accountCalls({ get, send }: AdminCalls): Pick<Manage, AccountVerb> {
  const one = (id: string, verb = "") => `/accounts/${segment(id)}${verb}`;
  const switched = async (id: string, verb: string) =>
    accountOf(await send("POST", one(id, verb), undefined, HARMLESS));
  return {
    async createAccount({ name, mode, credit }) {
      const first = credit === undefined ? {} : { credit: formatAmount(credit) };
      const body = { name, mode, ...first };
      return accountOf(await send("POST", "/accounts", body, lookAt("svc accounts list")));
    },
    listAccounts: (query) => readPages(get, "accounts", query, accountOf),
    readAccount: async (idOrName) => accountOf(await get(one(idOrName))),
    async updateAccount(idOrName, terms) {
      const body = termFieldsOf(ACCOUNT_TERMS, terms);
      return accountOf(await send("PATCH", one(idOrName), body, HARMLESS));
    },
    suspendAccount: (idOrName) => switched(idOrName, "/suspend"),
    activateAccount: (idOrName) => switched(idOrName, "/activate"),
  };
}

type MoneyVerb = "creditAccount" | "refundTask" | "readLedger" | "readUsage";

function moneyCalls({ get, send }: AdminCalls): Pick<Manage, MoneyVerb> {
  const readAccount = async (id: string) => accountOf(await get(`/accounts/${segment(id)}`));
  const readPage = async (id: string, limit: number, before: number | undefined) => {
    const query = { limit: String(Math.min(limit, MAX_PAGE)), before: before?.toString() };
    const page = await get(`/accounts/${segment(id)}/ledger`, query);
    const next = optionalTextIn(page, "next");
    return {
      rows: objectsIn(page, "entries").map(entryOf),
      next: next === undefined ? undefined : Number(next),
    };
  };
  return {
    async creditAccount(idOrName, amount, { reason }) {
      const body = { amount: formatAmount(amount), reason };
      // The server counts it once, however often it is sent.
      const once = { kind: "once", idempotencyKey: crypto.randomUUID() } as const;
      const repeat: Repeat = { ...once, check: `svc ledger ${idOrName}` };
      return accountOf(await send("POST", `/accounts/${segment(idOrName)}/credit`, body, repeat));
    },
    async refundTask(task, { amount, reason }) {
      const body = { reason, ...(amount === undefined ? {} : { amount: formatAmount(amount) }) };
      // A repetition is refused, which would look as if the first one had been refused.
      const repeat = lookAt("svc ledger ACCOUNT");
      const form = await send("POST", `/tasks/${segment(task)}/refund`, body, repeat);
      return {
        taskId: textIn(form, "task_id") as Awaited<ReturnType<Manage["refundTask"]>>["taskId"],
        amount: amountIn(form, "refunded"),
        account: accountOf(objectIn(form, "account")),
      };
    },
    async readLedger(idOrName, { limit, before }): Promise<ShownLedger> {
      const account = await readAccount(idOrName);
      return { account, ...(await readPage(account.id, limit, before)) };
    },
    async readUsage({ by = "day", and, since, until, account }) {
      const day = (number: number | undefined) => (number === undefined ? undefined : formatDay(number));
      return usageReportOf(
        await get("/usage", { by: formatSplit({ by, and }), since: day(since), until: day(until), account }),
      );
    },
  };
}

type KeyVerb = "createKey" | "listKeys" | "showKey" | "listQuotas" | "updateKey" | "rotateKey" | "revokeKey";

function keyCalls({ get, send }: AdminCalls): Pick<Manage, KeyVerb> {
  const one = (id: string, verb = "") => `/keys/${segment(id)}${verb}`;
  const readAccount = async (id: string) => accountOf(await get(`/accounts/${segment(id)}`));
  const showKey = async (id: string) => keyOf(await get(one(id)));
  const newKeyOf = (form: JsonObject, name: string) => {
    const record = keyOf(form);
    return { ...changeOf(form), key: textIn(form, "key"), account: { id: record.accountId, name } };
  };
  return {
    async createKey({ name, account, ...terms }) {
      // Before the key is made, because nothing may fail between making it and showing it.
      const owner = account === undefined ? DEFAULT_ACCOUNT : (await readAccount(account)).name;
      const body = { name, account, ...keyFields(terms) };
      return newKeyOf(await send("POST", "/keys", body, lookAt("svc keys list")), owner);
    },
    listKeys: (query) =>
      readPages(get, "keys", query, (form) => ({
        ...keyOf(form),
        accountName: optionalTextIn(form, "account"),
      })),
    showKey,
    async listQuotas({ key }) {
      const { answer } = await getNewer(get, "/quotas", {}, { key_id: key });
      return {
        items: objectsIn(answer, "quotas")
          .map(quotaOf)
          .filter((quota) => quota.key.id === key),
      };
    },
    async updateKey(idOrName, terms) {
      // A secret that was made is in this answer only.
      const repeat = terms.callbackSecret === "new" ? lookAt(`svc keys show ${idOrName}`) : HARMLESS;
      return changeOf(await send("PATCH", one(idOrName), keyFields(terms), repeat));
    },
    async rotateKey(idOrName, { graceMs = 0 } = {}) {
      const { id, accountId } = await showKey(idOrName);
      const { name } = await readAccount(accountId);
      const body = { grace_seconds: graceMs / 1000 };
      return newKeyOf(await send("POST", one(id, "/rotate"), body, lookAt(`svc keys show ${id}`)), name);
    },
    revokeKey: async (idOrName) => keyOf(await send("POST", one(idOrName, "/revoke"), undefined, HARMLESS)),
  };
}

const changeOf = (form: JsonObject) => ({
  record: keyOf(form),
  callbackSecret: optionalTextIn(form, "callback_secret"),
});

function keyFields({ callbackSecret, callbackSecretGraceMs, ...terms }: Parameters<Manage["updateKey"]>[1]) {
  return {
    ...termFieldsOf(KEY_TERMS, terms),
    callback_secret: callbackSecret,
    callback_secret_grace_seconds:
      callbackSecretGraceMs === undefined ? undefined : callbackSecretGraceMs / 1000,
  };
}

function tokenCalls({ get, send }: AdminCalls): Pick<Manage, "createToken" | "listTokens" | "revokeToken"> {
  return {
    async createToken({ name, ...terms }) {
      const body = { name, ...termFieldsOf(TOKEN_TERMS, terms) };
      const form = await send("POST", "/tokens", body, lookAt("svc tokens list"));
      return { token: textIn(form, "token"), record: tokenOf(form) };
    },
    listTokens: (query) => readPages(get, "tokens", query, tokenOf),
    revokeToken: async (idOrName) =>
      tokenOf(await send("POST", `/tokens/${segment(idOrName)}/revoke`, undefined, HARMLESS)),
  };
}

type SessionVerb = "createConsoleLink" | "listSessions" | "endSession";

function sessionCalls({ get, send }: AdminCalls): Pick<Manage, SessionVerb> {
  return {
    async createConsoleLink() {
      const form = await send("POST", "/sessions", undefined, lookAt("svc console list"));
      return { url: textIn(form, "url"), session: sessionOf(form) };
    },
    listSessions: async () => objectsIn(await get("/sessions"), "sessions").map(sessionOf),
    async endSession(id) {
      await send("POST", `/sessions/${segment(id)}/end`, undefined, lookAt("svc console list"));
    },
  };
}
