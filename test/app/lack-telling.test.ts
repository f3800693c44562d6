import { expect, test } from "bun:test";
import { createLackTelling } from "../../src/app/lack-telling.ts";
import type { Model } from "../../src/domain/model/model.ts";
import { type ProviderAdapter, ProviderError } from "../../src/domain/ports/provider.ts";

/** What is told of these models, by accounts that lack what the test says. */
async function told(lacks: ProviderAdapter["lacks"], rounds: readonly (readonly Model[])[]) {
  const lines: string[] = [];
  const asked: string[] = [];
  const note = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${"provider" in fields ? fields.provider : ""}: ${message}`);
  const log = { debug: note("debug"), warn: note("warn"), error: note("error") };
  const account = (lane: string) => ({
    ...{ id: "engine", lane },
    lacks: (route: Model["routes"][number], signal: AbortSignal) => {
      asked.push(`${lane} ${route.upstreamModel}`);
      return lacks?.(route, signal);
    },
  });
  const adapters = [account("engine"), account("engine/two"), { id: "other", lane: "other" }];
  const tell = createLackTelling({ adapters: () => adapters as never, log }, [] as never);
  for (const models of rounds) {
    tell(models);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { lines, asked };
}

const model = (id: string, route: object = {}): Model =>
  ({ id, routes: [{ provider: "engine", upstreamModel: id, ...route }] }) as never;

test("each account is asked for the routes that go to it, and what it lacks is told once", async () => {
  const models = [model("a"), model("b", { account: "engine/two" }), model("c", { provider: "other" })];
  const { lines, asked } = await told(
    async ({ upstreamModel }) => [`node 1 of ${upstreamModel}`],
    [models, models],
  );
  expect(asked.toSorted()).toEqual([
    ...["engine a", "engine a", "engine/two a", "engine/two a"],
    ...["engine/two b", "engine/two b"],
  ]);
  expect(lines.toSorted()).toEqual([
    "warn engine/two: a cannot run there: node 1 of a",
    "warn engine/two: b cannot run there: node 1 of b",
    "warn engine: a cannot run there: node 1 of a",
  ]);
});

test("an account that does not answer lacks nothing, and a mistake of ours is told as one", async () => {
  const off = new ProviderError("retry", "UPSTREAM_ERROR", "ECONNREFUSED");
  expect((await told(() => Promise.reject(off), [[model("a")]])).lines).toEqual([
    "debug engine: not asked what it lacks",
    "debug engine/two: not asked what it lacks",
  ]);
  expect((await told(() => Promise.reject(new TypeError("x")), [[model("a")]])).lines).toEqual([
    "error engine: what an account lacks could not be found",
    "error engine/two: what an account lacks could not be found",
  ]);
});
