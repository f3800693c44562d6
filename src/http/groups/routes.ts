import { mustBe } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { type Micros, parseAmount } from "../../domain/money/money.ts";
import type { GroupPolicy } from "../../domain/task/group-terms.ts";
import type { CancelTaskDeps } from "../../service/cancel-task.ts";
import { type CreateGroupDeps, createGroup } from "../../service/create-group.ts";
import type { GroupBody } from "../../service/expand-group.ts";
import { type ListGroupsDeps, listGroups } from "../../service/list-groups.ts";
import { cancelGroup, readGroup } from "../../service/read-group.ts";
import { accepted } from "../accepted.ts";
import { readBody } from "../body.ts";
import { counted, type Endpoint, type KeyedExchange, keyed, polled } from "../exchange.ts";
import { hopsOf } from "../hops.ts";
import { idempotencyKeyOf } from "../idempotency-key.ts";
import { type Reply, succeeding, success } from "../reply.ts";
import { routingOf } from "../routing.ts";
import { checkQuery } from "../wire/check.ts";
import { presentGroup, presentListedGroup } from "./present.ts";
import {
  CANCEL_GROUP,
  CREATE_GROUP,
  DEFAULT_LIMIT,
  GROUP_BODY,
  GROUP_QUERY,
  LIST_GROUPS,
  READ_GROUP,
} from "./wire.ts";

type Deps = CreateGroupDeps & CancelTaskDeps & ListGroupsDeps;

/** One prompt over several models and parameters (docs/api.md 4.14). */
export function groupEndpoints(deps: Deps): Endpoint[] {
  return [
    counted("/v1/groups", CREATE_GROUP, (exchange) => create(deps, exchange), "creates"),
    polled(
      "/v1/groups",
      LIST_GROUPS,
      async ({ principal, query, origin }) => {
        // The schema has checked that it is of this type.
        const asked = checkQuery(GROUP_QUERY, query()) as {
          readonly limit?: number;
          readonly after?: string;
        };
        const { groups, next } = await listGroups(deps, principal, { limit: DEFAULT_LIMIT, ...asked });
        return success({ groups: groups.map((group) => presentListedGroup(group, origin)), next });
      },
      "lists",
    ),
    polled("/v1/groups/:group_id", READ_GROUP, async ({ principal, param, origin }) =>
      success(presentGroup(await readGroup(deps, principal, param("group_id")), origin)),
    ),
    keyed("POST", "/v1/groups/:group_id/cancel", CANCEL_GROUP, {}, async ({ principal, param, origin }) =>
      success(presentGroup(await cancelGroup(deps, principal, param("group_id")), origin)),
    ),
  ];
}

/** What the schema accepts. */
type Body = JsonObject &
  GroupBody & {
    readonly budget?: string;
    readonly deadline_seconds?: number;
    readonly policy?: GroupPolicy;
    readonly callback_url?: string;
  };

async function create(deps: Deps, exchange: KeyedExchange): Promise<Reply> {
  const { request, principal, requestId, origin, trace } = exchange;
  const body = await readBody<Body>(exchange, GROUP_BODY);
  const { id, tasks, held, replayed } = await createGroup(deps, {
    ...{ principal, requestId, origin, trace, body, asked: body },
    ...{ hops: hopsOf(request), idempotencyKey: idempotencyKeyOf(request), routing: routingOf(request) },
    gone: () => request.signal,
    policy: body.policy ?? "all",
    budget: budgetOf(body.budget),
    deadlineSec: body.deadline_seconds,
    callbackUrl: body.callback_url,
  });
  return accepted(
    { held, replayed },
    { body: succeeding(JSON.stringify({ group_id: id, task_ids: tasks })) },
  );
}

/** @throws AppError naming `budget` */
function budgetOf(given: string | undefined): Micros | undefined {
  if (given === undefined) return undefined;
  const budget = parseAmount(given);
  if (budget !== undefined && budget >= 0) return budget;
  throw mustBe("budget", { form: "amount_from_zero" }, given);
}
