import { KEY_PLACES } from "../../../domain/ports/managed-providers.ts";
import { MODEL_ID } from "../../models/wire.ts";
import { jsonBody } from "../../openapi/contract.ts";
import {
  closed,
  component,
  flag,
  integer,
  list,
  openEnum,
  optional,
  requiring,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { STANDING_OF_ACCOUNT } from "../../wire/standing.ts";
import { amount, unixSeconds } from "../../wire/values.ts";
import { contract, NOT_FOUND } from "../contract.ts";

const PROVIDER_ID = text("Id of the provider.");

const ACCOUNT = component(
  "ProviderAccount",
  {
    name: text("Its name; `default` for the customary variable's."),
    lane: text("The queue of its tasks."),
    key_from: openEnum(
      KEY_PLACES,
      "Where its key is. `settings`: in a variable or a file that the settings name. `kept`: sealed in the data folder; it can be removed here. `none`: it needs none.",
    ),
    region: text("Where its tasks are made; absent: the usual one."),
    base_url: text("The address of the API that it is reached at."),
    concurrency: integer("Most of its tasks under way."),
  },
  { optional: ["region", "base_url", "concurrency"] },
);

const FIELDS = {
  id: PROVIDER_ID,
  title: text("For people."),
  kind: openEnum(["form", "code"], "Whether a form describes it, or it is code."),
  form: closed(
    {
      hash: text("SHA-256 of its text, by which tasks keep to it."),
      own: flag("Whether it is the operator's, in the server's data folder."),
      file: text("The operator's file."),
    },
    { optional: ["file"], description: "The form; absent for a provider that is code." },
  ),
  code: flag("It is code; absent for a provider that a form describes."),
  available: flag("Whether an account of it is switched on."),
  needs: list(text(""), { description: "What must be set to switch it on; empty for one that is on." }),
  accounts: list(ACCOUNT),
  models: list(text(""), { description: "Ids of the models with a route to it." }),
};
const EITHER = ["form", "code"];
const PROVIDER = component("ManagedProvider", FIELDS, { optional: EITHER });

const ROUTE = closed(
  {
    model: MODEL_ID,
    upstream_model: text("What the provider calls the model."),
    refused: text(
      "What it said when it refused the key, the account or the model, where it refuses every account.",
    ),
    refused_since: unixSeconds("Since when."),
    troubles: list(STANDING_OF_ACCOUNT, {
      description: "The accounts that get none of its tasks at present; absent where there are none.",
    }),
  },
  { optional: ["refused", "refused_since", "troubles"] },
);

const IN_FULL = component(
  "ManagedProviderInFull",
  {
    ...FIELDS,
    facts: {
      type: "object",
      additionalProperties: true,
      description:
        "What its form says: addresses, regions, kinds of credentials with the names of their variables, limits, flows and what they can do, meanings of refusals. Later versions add to it.",
    },
    problems: list(text(""), {
      description:
        "What is wrong with its file, with line and column, with its settings and with kept keys of its accounts.",
    }),
    routes: list(ROUTE),
    kinds: list(list(text("Name of a secret.")), {
      description: "The secrets that an account has, for each kind of account, the usual one first.",
    }),
    text: text("The text of its form, where it was asked for."),
  },
  { optional: [...EITHER, "text"] },
);

const TEST = component(
  "ProviderTest",
  {
    provider: PROVIDER_ID,
    account: text("Name of the account."),
    lane: text("The queue of its tasks."),
    result: openEnum(
      ["ok", "refused", "spent", "unreachable", "failed", "untested"],
      "`refused`: the key, the account or the region is wrong. `spent`: no money is left there. `untested`: it has no call that proves a key and makes nothing.",
    ),
    took_ms: integer("How long it took."),
    detail: text("What the provider said, unless all is well."),
    balance: { type: "number", description: "What is left there, in the provider's own unit." },
    balance_usd: amount("The same in USD, where it is known what a unit is worth."),
    lacks: list(text(""), {
      description: "What models need there and it does not have, such as nodes and files.",
    }),
  },
  { optional: ["detail", "balance", "balance_usd", "lacks"] },
);

export const PROVIDER_QUERY: Schema = {
  type: "object",
  properties: { text: flag("Whether the text of its form is wanted.") },
};

export const TEST_REQUEST = optional({ account: text("Only this account.") });

const ACCOUNT_NAME = text("Name of the account; `default` unless given.", { maxLength: 32 });

export const ADD_KEY_REQUEST = requiring(["secrets"], {
  account: ACCOUNT_NAME,
  secrets: {
    type: "object",
    additionalProperties: { type: "string", maxLength: 20_000 },
    writeOnly: true,
    description:
      "The secrets of an account by their names, mostly `key` alone; `kinds` of the provider names them.",
  },
});

export const REMOVE_KEY_REQUEST = optional({ account: ACCOUNT_NAME });

const KEPT = closed({
  provider: PROVIDER_ID,
  account: text("Name of the account."),
  lane: text("The queue of its tasks."),
  in_force: flag("Whether the server has taken it up; otherwise its next start does."),
});

const ONE = { path: { id: PROVIDER_ID } };
const PROBLEMS = list(text(""), {
  description:
    "What is wrong with files of the data folder that describe a provider, with line and column, with the settings of these, and with kept keys.",
});

export const PROVIDERS = {
  list: contract(
    "listProviders",
    "List every provider, switched on or not",
    closed({ providers: list(PROVIDER), problems: PROBLEMS }),
  ),
  read: contract("readProvider", "Read all that is known of a provider", IN_FULL, {
    ...ONE,
    query: PROVIDER_QUERY,
    ...NOT_FOUND,
  }),
  add: contract("keepProviderKey", "Keep the key of a provider's account, sealed", KEPT, {
    description: "Replaces one that is kept. A key in a variable or in svc.yaml counts before it.",
    ...ONE,
    body: jsonBody(ADD_KEY_REQUEST),
    ...NOT_FOUND,
  }),
  remove: contract("removeProviderKey", "Remove the kept key of a provider's account", KEPT, {
    ...ONE,
    body: jsonBody(REMOVE_KEY_REQUEST),
    ...NOT_FOUND,
  }),
  test: contract(
    "testProvider",
    "Test the accounts of a provider by a call that makes nothing",
    closed({ accounts: list(TEST) }),
    {
      description:
        "It proves key and region, and tells the balance where the provider does. It takes 10 seconds at most.",
      ...ONE,
      body: jsonBody(TEST_REQUEST),
      ...NOT_FOUND,
    },
  ),
};
