import { ROUTE_POLICIES } from "../../../domain/model/route-policy.ts";
import { VERDICTS } from "../../../domain/ports/managed-routes.ts";
import { MODEL_ID } from "../../models/wire.ts";
import { jsonBody } from "../../openapi/contract.ts";
import {
  closed,
  component,
  integer,
  list,
  openEnum,
  requiring,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { STANDING_FIELDS, STANDING_OPTIONAL } from "../../wire/standing.ts";
import { amount } from "../../wire/values.ts";
import { contract, NOT_FOUND } from "../contract.ts";

/** The most characters of the reason for a block. */
const MAX_BLOCK_REASON_LENGTH = 200;

const PLACE = {
  provider: text("Id of the provider."),
  account: text("Name of its account; `default` for the customary variable's."),
  lane: text("The queue of the account's tasks."),
  upstream_model: text("The provider's name for the model."),
};

const WAY = component(
  "ManagedRoute",
  {
    ...PLACE,
    models: list(text(""), { description: "Ids of the models that have a route to it." }),
    breaker: openEnum(
      ["closed", "open", "half_open"],
      "Whether tasks are kept away because of what they met there: `open` also where the provider refuses us or the account has no money left.",
    ),
    ...STANDING_FIELDS,
    per_minute: {
      type: "number",
      description: "Submissions that the account takes in a minute, as it is told or found out.",
    },
    under_way: integer("Tasks of the whole account that were sent and have not ended."),
    concurrency: integer("Most of these."),
    completed: integer("Tasks of these models that this account completed in the last hour."),
    failed: integer("And those that failed there."),
    success: { type: "number", description: "The part of these that completed, 0 to 1." },
    p50_ms: integer("Half of those that completed in the last hour took no longer there."),
    p95_ms: integer("And 95 of 100."),
    spent_today: amount(
      "What the attempts that ended there today (UTC) cost the operator, as far as it is known.",
    ),
  },
  { optional: [...STANDING_OPTIONAL, "per_minute", "concurrency", "success", "p50_ms", "p95_ms"] },
);

const EXPLAINED = component("ExplainedRoutes", {
  model: MODEL_ID,
  mode: text("What the model would do, `text-to-image`."),
  policy: openEnum(ROUTE_POLICIES, "How one of the ways is chosen."),
  policy_from: openEnum(
    ["request", "key", "model", "default"],
    "What says so; `default`: nothing, so that it is `ordered`.",
  ),
  outcome: openEnum(
    ["sent", "waits", "refused"],
    "`sent`: the task is sent at once. `waits`: until a way opens. `refused`: no way can do it, or only the operator can open one.",
  ),
  ways: list(
    closed(
      {
        ...PLACE,
        verdict: openEnum(
          VERDICTS,
          "`chosen`: the task is sent here. `next`: it is sent here where the chosen one fails. `standby`: it could be sent here. `cannot`: the route cannot do it exactly. `off`: no account is switched on. `not_asked_for`: the request names another one. Else its `state`.",
        ),
        field: text("The field that is in the way."),
        why: text("Why, for people."),
        ...STANDING_FIELDS,
        cost: amount("The most that the request costs the operator there."),
      },
      { optional: ["account", "lane", "field", "why", "cost", ...STANDING_OPTIONAL] },
    ),
  ),
});

const TARGET = {
  provider: text("Id of the provider."),
  account: text("Only this account of it."),
  upstream_model: text("Only this model, as the provider calls it."),
};
export const BLOCK_REQUEST = requiring(["provider"], {
  ...TARGET,
  reason: text("Why, for people.", { minLength: 1, maxLength: MAX_BLOCK_REASON_LENGTH }),
});
export const ALLOW_REQUEST = requiring(["provider"], TARGET);

const ANY_FIELDS: Schema = { type: "object", additionalProperties: true };
export const EXPLAIN_REQUEST = requiring(["model"], {
  model: MODEL_ID,
  request: { ...ANY_FIELDS, description: "The create body. Prompt and media may be left out." },
  route_policy: text("As X-Route-Policy of the create."),
  route: text("As X-Route of the create."),
  key: text("Id or name of the key that would send it."),
});

const CONCERNED = closed({ routes: list(WAY, { description: "The ways that it concerns." }) });

export const ROUTES = {
  list: contract(
    "listRoutes",
    "List every way at every account that is switched on",
    closed({ routes: list(WAY) }),
  ),
  explain: contract("explainRoute", "Tell which way a request would take now, and why", EXPLAINED, {
    description: "Makes and holds nothing.",
    body: jsonBody(EXPLAIN_REQUEST),
    ...NOT_FOUND,
  }),
  block: contract("blockRoute", "Send no more tasks to an account, or to a model there", CONCERNED, {
    description: "Tasks under way go on; waiting ones go elsewhere, or wait. A restart does not forget it.",
    body: jsonBody(BLOCK_REQUEST),
    ...NOT_FOUND,
  }),
  allow: contract(
    "allowRoute",
    "Forget all that keeps tasks from an account, or from a model there",
    CONCERNED,
    {
      body: jsonBody(ALLOW_REQUEST),
      ...NOT_FOUND,
    },
  ),
};
