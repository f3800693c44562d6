import type { LaneId, ModelId, ProviderId } from "../../../src/domain/ids.ts";
import type { Model } from "../../../src/domain/model/model.ts";
import { ROUTE_POLICIES } from "../../../src/domain/model/route-policy.ts";
import type { ProviderAdapter } from "../../../src/domain/ports/provider.ts";
import { createSystemClock } from "../../../src/runtime/clock.ts";
import { threadCpuMs } from "../../../src/runtime/thread-time.ts";
import { createWays } from "../../../src/scheduler/routing/ways.ts";
import { MODEL, scriptedProvider } from "../../helpers/engine.ts";
import { newTask } from "../../helpers/store.ts";
import { measurement } from "../run/report.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench } from "./bench.ts";

const ACCOUNTS = 20;
const PROVIDERS = 5;
const MODELS = 50;
const CHOICES = 20_000;

const provider = (number: number) => `p${number}` as ProviderId;
/** Every model has a route to each provider, and what is known against one account keeps nobody from looking. */
const models: readonly Model[] = Array.from({ length: MODELS }, (_, i) => ({
  ...MODEL,
  id: `model-${i}` as ModelId,
  price: { version: "1", lines: [{ sku: "a", unit: "output", unitMicros: 10_000 as never }] },
  routes: Array.from({ length: PROVIDERS }, (_, j) => ({
    ...{ provider: provider(j), upstreamModel: `upstream-${i}`, cost: "list" as const, weight: j + 1 },
    only: { size: { enum: ["1024x1024", "512x512"] } },
  })),
}));

/** How long it takes to choose among 20 accounts for one of 50 models, by each policy. */
export const routing: Bench = async ({ rounds, scaled }) => {
  const choose = prepare();
  const count = scaled(CHOICES);
  const subjects = Object.fromEntries(
    ROUTE_POLICIES.map((policy) => [policy, async () => timed(() => choose(policy, count), count)]),
  );
  for (const policy of ROUTE_POLICIES) choose(policy, count);
  const found = await interleave(rounds, subjects);
  return ROUTE_POLICIES.map((policy) =>
    measurement({
      name: `choosing a way, ${policy}`,
      unit: "µs",
      values: found[policy] ?? [],
      target: { kind: "most", value: 50 },
      note: "processor time; 20 accounts, 50 models of 5 routes, one account refused",
    }),
  );
};

function prepare() {
  const adapters: readonly ProviderAdapter[] = Array.from({ length: ACCOUNTS }, (_, i) => {
    const id = provider(i % PROVIDERS);
    return Object.assign(scriptedProvider({ id }), {
      lane: (i < PROVIDERS ? id : `${id}/${i}`) as LaneId,
    });
  });
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const { routing, standing, durations } = createWays({
    ...{ adapters: () => adapters, clock: createSystemClock(), log: silent, random: Math.random },
    routes: {
      troubles: async () => [],
      changedTroubles: async () => undefined,
      set: async () => {},
      clear: async () => {},
    },
  });
  const requests = models.map((model) => ({ ...newTask().request, model: model.id }));
  const refused = { lane: provider(0), upstreamModel: "upstream-0" };
  standing.refused(refused, "submission", { kind: "key", detail: "401" });
  // As many as are kept of each way.
  for (const { lane } of adapters)
    for (const request of requests)
      for (let i = 0; i < 100; i++)
        durations.took(lane, `upstream-${request.model.slice(6)}`, request, 1_000 + i);
  return (policy: (typeof ROUTE_POLICIES)[number], count: number) => {
    for (let i = 0; i < count; i++) {
      const [model, request] = [models[i % MODELS], requests[i % MODELS]];
      if (model === undefined || request === undefined) continue;
      const way = routing.choose(model, { ...request, routing: { policy } }, { attempts: [] });
      if (way === undefined) throw new Error(`No way was found for ${model.id}.`);
    }
  };
}

/** @returns microseconds of processor time for each of so many */
function timed(work: () => void, count: number): number {
  const before = threadCpuMs();
  work();
  return ((threadCpuMs() - before) * 1_000) / count;
}
