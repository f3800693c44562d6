import type { ModelId, TaskId } from "../../src/domain/ids.ts";
import { canTake } from "../../src/domain/model/eligibility.ts";
import type { Model, Route } from "../../src/domain/model/model.ts";
import { ROUTE_POLICIES } from "../../src/domain/model/route-policy.ts";
import type { GenerationRequest } from "../../src/domain/task/request.ts";
import { isOut } from "../../src/domain/task/routing.ts";
import { MODEL } from "../helpers/engine.ts";
import { micros, newTask } from "../helpers/store.ts";
import { LANES, type Place, providerOf } from "./routes-plan.ts";
import type { createRoutesUpstream } from "./routes-upstream.ts";
import type { RoutesWatch } from "./routes-watch.ts";
import { catalogOf } from "./simulated-catalog.ts";
import { ACCOUNT, type Machine, openService } from "./simulated-service.ts";

export const DEADLINE_MS = 1_200_000;

const [ALPHA, , BETA, ENGINE] = LANES;
const costs = (amount: number): Pick<Route, "cost"> => ({
  cost: { version: "1", lines: [{ sku: "picture", unit: "output", unitMicros: micros(amount) }] },
});
/** What the engine of the house is too small for. */
const SIZES = ["1024x1024", "1024x1024", "1024x1024", "4096x4096"] as const;
const model: Model = {
  ...MODEL,
  id: "picture" as ModelId,
  deadlineMs: DEADLINE_MS,
  routes: [
    routeTo(ALPHA, { weight: 3, ...costs(20_000) }),
    routeTo(BETA, { weight: 2, ...costs(10_000) }),
    routeTo(ENGINE, { ...costs(1_000), only: { size: { enum: ["1024x1024"] } } }),
  ],
};
const catalog = catalogOf([model]);

function routeTo(place: Place, more: Partial<Route>): Route {
  return { provider: providerOf(place), upstreamModel: "one", ...more };
}

export type RoutesMachine = Machine & {
  readonly upstream: ReturnType<typeof createRoutesUpstream>;
  readonly watch: RoutesWatch;
};

export type RoutesService = ReturnType<typeof startRoutesService>;

/** A process of the service with one model and several ways to make it. */
export function startRoutesService(machine: RoutesMachine) {
  const { upstream, watch, ids, dice } = machine;
  const service = openService(machine, {
    ...{ catalog, deadlineMs: DEADLINE_MS, adapters: upstream.adapters, watchRoutes: watch.watchRoutes },
  });
  return {
    ...service,
    /** Creates a task as a caller would. @returns why not, where it is not accepted */
    async create(steady: Place | undefined): Promise<TaskId | "no way" | "not stored"> {
      const id = ids.create("task");
      const { request: usual } = newTask();
      const request: GenerationRequest = {
        ...{ ...usual, model: model.id, parameters: { size: dice.pick(SIZES) } },
        routing: dice.chance(0.2) ? undefined : { policy: dice.pick(ROUTE_POLICIES as unknown as POLICIES) },
      };
      const way = service.ways.routing.choose(model, request);
      const isAble = model.routes.some(
        (route) => steady !== undefined && route.provider === steady.provider && canTake(route, request),
      );
      if (way === undefined || isOut(way)) return "no way";
      const { lane, index: routeIndex } = way;
      watch.created(id, isAble);
      const createdAt = service.clock.now();
      const task = newTask({
        ...{ id, accountId: ACCOUNT, model: model.id, request, lane, routeIndex, createdAt },
      });
      return (await service.admit(task)) ?? "not stored";
    },
  };
}
type POLICIES = [(typeof ROUTE_POLICIES)[number], ...(typeof ROUTE_POLICIES)[number][]];
