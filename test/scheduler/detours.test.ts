import { expect, test } from "bun:test";
import type { ModelId } from "../../src/domain/ids.ts";
import { type ProviderAdapter, ProviderError, type Submitted } from "../../src/domain/ports/provider.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { taskId } from "../helpers/store.ts";

const [first, second] = MODEL.routes.map(({ provider }) => provider);
const pictures: Submitted = { kind: "outputs", outputs: [{ kind: "remote", ref: "file" }] };
const SINGLE = { ...MODEL, id: "single" as ModelId, routes: MODEL.routes.slice(0, 1) };

/** An account that is paused for so long by its first task, and one of another provider with two places, whose tasks end when told. */
async function setup(pauseMs: number, fields: Partial<ProviderAdapter> = {}) {
  const busy = new ProviderError("retry", "UPSTREAM_CAPACITY_EXHAUSTED", "429", {
    retryAfterMs: pauseMs,
    isTooOften: true,
  });
  const paused = scriptedProvider({
    id: first!,
    submit: async () => {
      throw busy;
    },
  });
  const jobs: (() => void)[] = [];
  const other = scriptedProvider({
    id: second!,
    concurrency: 2,
    submit: () => new Promise((resolve) => jobs.push(() => resolve(pictures))),
    ...fields,
  });
  const engine = await createEngine([paused, other], { models: [MODEL, SINGLE], options: { steps: 10 } });
  await engine.admit({ id: taskId(1), model: SINGLE.id });
  await engine.scheduler.tick();
  return { engine, other, jobs };
}

/** Claims again and again, and does not wait for what the other upstream does. */
async function claims({ scheduler }: Awaited<ReturnType<typeof createEngine>>): Promise<void> {
  for (let i = 0; i < 20; i++) {
    void scheduler.tick();
    await Bun.sleep(0);
  }
}

test("what waits for an account that its upstream has paused goes to another provider as it has room", async () => {
  const { engine, other, jobs } = await setup(300_000);
  for (let number = 2; number <= 6; number++) await engine.admit({ id: taskId(number), model: SINGLE.id });
  for (let number = 7; number <= 11; number++) await engine.admit({ id: taskId(number) });
  for (const sent of [2, 4, 5]) {
    await claims(engine);
    expect(other.submissions).toHaveLength(sent);
    for (const end of jobs.splice(0)) end();
  }
  await claims(engine);
  expect(other.submissions.map((each) => each.taskId).sort()).toEqual([7, 8, 9, 10, 11].map(taskId));
});

test.each([
  ["a pause that is short", 4_000, {}],
  ["another provider that gets no tasks now", 300_000, { concurrency: 0 }],
])("what waits stays where it is for %s", async (_, pauseMs, fields) => {
  const { engine, other } = await setup(pauseMs, fields);
  const waiting = await engine.admit({ id: taskId(2) });
  await claims(engine);
  expect(other.submissions).toEqual([]);
  expect((await engine.task(waiting)).lane).toBe(first!);
});
