import type { Operator } from "../../../domain/access/actor.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { ExplainRoute, ManagedRoutes } from "../../../domain/ports/managed-routes.ts";
import { explainedForm, managedWayForm } from "../../../domain/route-form.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { ALLOW_REQUEST, BLOCK_REQUEST, EXPLAIN_REQUEST, ROUTES } from "./wire.ts";

interface TargetBody {
  readonly provider: string;
  readonly account?: string;
  readonly upstream_model?: string;
  readonly reason?: string;
}

interface ExplainBody {
  readonly model: string;
  readonly request?: JsonObject;
  readonly route_policy?: string;
  readonly route?: string;
  readonly key?: string;
}

/** /admin/v1/routes. */
export function managedRouteEndpoints(
  routesAs: (operator: Operator) => ManagedRoutes,
  explainRoute: ExplainRoute,
): Endpoint[] {
  return [
    managed("GET", "/admin/v1/routes", ROUTES.list, async ({ operator }) =>
      success({ routes: (await routesAs(operator).list()).map(managedWayForm) }),
    ),
    managed("POST", "/admin/v1/routes/explain", ROUTES.explain, async (exchange) => {
      const { route_policy: policy, ...asked } = await readBody<ExplainBody>(exchange, EXPLAIN_REQUEST);
      return success(explainedForm(await explainRoute({ ...asked, policy })));
    }),
    managed("POST", "/admin/v1/routes/block", ROUTES.block, async (exchange) => {
      const { reason, ...body } = await readBody<TargetBody>(exchange, BLOCK_REQUEST);
      return success({
        routes: (await routesAs(exchange.operator).block(targetOf(body), reason)).map(managedWayForm),
      });
    }),
    managed("POST", "/admin/v1/routes/allow", ROUTES.allow, async (exchange) => {
      const body = await readBody<TargetBody>(exchange, ALLOW_REQUEST);
      return success({
        routes: (await routesAs(exchange.operator).allow(targetOf(body))).map(managedWayForm),
      });
    }),
  ];
}

function targetOf({ provider, account, upstream_model: upstreamModel }: TargetBody) {
  return { provider, account, upstreamModel };
}
