import { ACCOUNT_TERMS } from "../../../domain/access/account-terms.ts";
import { jsonBody } from "../../openapi/contract.ts";
import { closed, component, list, nullable, optional, requiring, text } from "../../wire/schema.ts";
import { amount, CURRENCY_SCHEMA, idOf, unixSeconds } from "../../wire/values.ts";
import { byIdOrName, contract } from "../contract.ts";
import { AMOUNT, CURRENCY_FIELD, NAME } from "../fields.ts";
import { NEXT, ORDER, pageParameters } from "../lists.ts";
import { termAnswers, termRequests } from "../terms.ts";

const TERMS = termRequests(ACCOUNT_TERMS);

export const NEW_ACCOUNT = requiring(["name"], {
  name: NAME,
  mode: { ...TERMS.mode, default: "prepaid" },
  credit: { ...AMOUNT, description: "First credit." },
  currency: CURRENCY_FIELD,
});

/** Absent fields do not change. */
export const ACCOUNT_CHANGE = optional({ ...TERMS, currency: CURRENCY_FIELD }, { minProperties: 1 });

/** Which accounts are listed. */
export const ACCOUNTS_QUERY = optional({ ...pageParameters("Accounts"), ...ORDER });

export const ACCOUNT = component("Account", {
  id: idOf("acc", "Id of the account."),
  name: text("What people call it."),
  status: text("Keys of a suspended account are refused.", { enum: ["active", "suspended"] }),
  currency: CURRENCY_SCHEMA,
  balance: amount("Sum of the ledger."),
  held: amount("Held for tasks under way."),
  available: nullable(amount("What new tasks may cost; null: any amount.")),
  ...termAnswers(ACCOUNT_TERMS),
  created_at: unixSeconds("When it was made."),
});

const ONE = byIdOrName("account");

export const ACCOUNTS = {
  list: contract("listAccounts", "List accounts", closed({ accounts: list(ACCOUNT), next: NEXT }), {
    description: "In the order in which they were made, the oldest first unless asked otherwise.",
    query: ACCOUNTS_QUERY,
  }),
  create: contract("createAccount", "Make an account", ACCOUNT, { body: jsonBody(NEW_ACCOUNT) }),
  read: contract("readAccount", "Read an account", ACCOUNT, ONE),
  update: contract("updateAccount", "Change the terms of an account", ACCOUNT, {
    description: "What is absent stays as it is. Tasks accepted before are charged as they were promised.",
    ...ONE,
    body: jsonBody(ACCOUNT_CHANGE),
  }),
  suspend: contract("suspendAccount", "Refuse an account's keys from now on", ACCOUNT, {
    description: "Tasks that were accepted go on.",
    ...ONE,
  }),
  activate: contract("activateAccount", "Take a suspended account's keys again", ACCOUNT, ONE),
};
