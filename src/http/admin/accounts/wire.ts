import { ACCOUNT_TERMS } from "../../../domain/access/account-terms.ts";
import { jsonBody } from "../../openapi/contract.ts";
import {
  amount,
  CURRENCY_SCHEMA,
  closed,
  component,
  idOf,
  list,
  nullable,
  type Schema,
  text,
  unixSeconds,
} from "../../wire/schema.ts";
import { AMOUNT, CURRENCY_FIELD, NAME } from "../fields.ts";
import { byIdOrName, managedContract } from "../managed.ts";
import { termAnswers, termRequests } from "../terms.ts";

const TERMS = termRequests(ACCOUNT_TERMS);

export const NEW_ACCOUNT = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: {
    name: NAME,
    mode: { ...TERMS.mode, default: "prepaid" },
    credit: { ...AMOUNT, description: "First credit." },
    currency: CURRENCY_FIELD,
  },
} as const;

/** What is absent stays as it is. */
export const ACCOUNT_CHANGE = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  properties: { ...TERMS, currency: CURRENCY_FIELD },
} as const;

export const ACCOUNT: Schema = component("Account", {
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

export const LIST_ACCOUNTS = managedContract(
  "listAccounts",
  "List accounts",
  closed({ accounts: list(ACCOUNT) }),
);
export const CREATE_ACCOUNT = managedContract("createAccount", "Make an account", ACCOUNT, {
  body: jsonBody(NEW_ACCOUNT),
});
export const READ_ACCOUNT = managedContract("readAccount", "Read an account", ACCOUNT, {
  path: byIdOrName("account"),
});
export const UPDATE_ACCOUNT = managedContract("updateAccount", "Change the terms of an account", ACCOUNT, {
  description: "What is absent stays as it is. Tasks accepted before are charged as they were promised.",
  path: byIdOrName("account"),
  body: jsonBody(ACCOUNT_CHANGE),
});
export const SUSPEND_ACCOUNT = managedContract(
  "suspendAccount",
  "Refuse an account's keys from now on",
  ACCOUNT,
  { description: "Tasks that were accepted go on.", path: byIdOrName("account") },
);
export const ACTIVATE_ACCOUNT = managedContract(
  "activateAccount",
  "Take a suspended account's keys again",
  ACCOUNT,
  { path: byIdOrName("account") },
);
