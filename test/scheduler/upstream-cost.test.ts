import { expect, test } from "bun:test";
import { type PollResult, type ProviderAdapter, ProviderError } from "../../src/domain/ports/provider.ts";
import type { AttemptChange } from "../../src/domain/task/transition.ts";
import { createEngine, MODEL, scriptedProvider } from "../helpers/engine.ts";
import { ACCOUNT, LANE, micros } from "../helpers/store.ts";

/** What the model's provider takes for an image; its callers pay 0.040000. */
const LIST = 30_000;
const ASKED = 2;

/** Runs one task of two images to its end. @returns how it ended, and what became of its last attempt */
async function run(
  script: Partial<ProviderAdapter>,
  { isCharged = true, isCancelled = false }: { isCharged?: boolean; isCancelled?: boolean } = {},
) {
  const engine = await createEngine([scriptedProvider(script)]);
  const { deps, store } = engine;
  const model = {
    ...MODEL,
    price: { version: "1", lines: [{ sku: "m", unit: "output", unitMicros: micros(LIST) }] as const },
    routes: [{ provider: LANE, upstreamModel: "one", cost: isCharged ? ("list" as const) : undefined }],
  };
  let last: AttemptChange | undefined;
  Object.assign(deps, {
    catalog: { ...deps.catalog, find: () => model },
    tasks: {
      ...store.tasks,
      apply: (...[lease, transition]: Parameters<typeof store.tasks.apply>) => {
        last = transition.attempt ?? last;
        return store.tasks.apply(lease, transition);
      },
    },
  });
  const line = { sku: "m", unit: "output", unitMicros: micros(40_000), perOutput: 1 } as const;
  const held = micros(40_000 * ASKED);
  const id = await engine.admit({
    request: { kind: "image", model: MODEL.id, mode: "text-to-image", n: ASKED, parameters: {}, inputs: [] },
    quote: { priceVersion: "1", outputs: ASKED, lines: [line], ceiling: held },
    held,
  });
  await engine.scheduler.tick();
  if (isCancelled) await store.tasks.requestCancel(id, ACCOUNT, engine.clock.now());
  await engine.runToEnd(400);
  const task = await engine.task(id);
  const account = await store.accounts.account(ACCOUNT);
  expect(account).toMatchObject({ held: 0, balance: 0 - (task.charged ?? 0) });
  return {
    end: String(task.error?.code ?? task.status),
    charged: Number(task.charged),
    cost: last?.costMicros,
    detail: last?.detail,
  };
}

const pending: ProviderAdapter["poll"] = async () => ({ kind: "pending" });
const delivers = (count: number) => async (): Promise<PollResult> => ({
  kind: "succeeded",
  outputs: Array.from({ length: count }, () => ({ kind: "remote", ref: "file" })),
});
const refuses = (error: Error) => async (): Promise<never> => {
  throw error;
};

test("a task that was delivered costs the list price of what was, and its caller the caller's", async () => {
  expect(await run({ poll: delivers(2) })).toMatchObject({
    end: "completed",
    charged: 80_000,
    cost: micros(60_000),
  });
  expect(await run({ poll: delivers(1) })).toMatchObject({
    end: "completed",
    charged: 40_000,
    cost: micros(30_000),
  });
});

test.each([[0], [12_345]])(
  "a reported cost of %p counts, also on a route that is not known to charge",
  async (reported) => {
    const costMicros = micros(reported);
    const made = { outputs: [{ kind: "remote", ref: "file" }], costMicros } as const;
    const known = { end: "completed", charged: 40_000, cost: costMicros };
    for (const isCharged of [true, false])
      expect(await run({ poll: async () => ({ kind: "succeeded", ...made }) }, { isCharged })).toMatchObject(
        known,
      );
    const bytes = [{ kind: "bytes", bytes: Buffer.from("picture") }] as const;
    const submit = async () => ({ kind: "outputs", outputs: bytes, costMicros }) as const;
    expect(await run({ submit })).toMatchObject(known);
  },
);

test("a cost that the provider reported is known after a restart, however the task ends", async () => {
  const costMicros = micros(12_345);
  const poll = async (): Promise<PollResult> => ({ ...(await delivers(2)()), costMicros }) as PollResult;
  let tries = 0;
  const fetchOutput: ProviderAdapter["fetchOutput"] = async () => {
    // The task is given back, and claimed anew from what is stored.
    if (++tries <= 2) throw new ProviderError("retry", "UPSTREAM_ERROR", "not yet");
    return (async function* () {
      yield Buffer.from("picture");
    })();
  };
  expect(await run({ poll, fetchOutput })).toMatchObject({ end: "completed", cost: costMicros });
  const gone = refuses(new ProviderError("fail", "FINALIZATION_FAILED", "gone"));
  expect(await run({ poll, fetchOutput: gone })).toEqual({
    ...{ end: "FINALIZATION_FAILED", charged: 0, cost: costMicros, detail: "gone" },
  });
});

test("a failed job costs what its provider reports", async () => {
  const failed = {
    kind: "failed",
    code: "CONTENT_MODERATED",
    isCharged: true,
    costMicros: micros(7),
  } as const;
  expect(await run({ poll: async () => failed })).toMatchObject({ charged: 0, cost: micros(7) });
});

test("nothing is said of the cost on a route whose provider is not known to charge", async () => {
  expect(await run({ poll: delivers(2) }, { isCharged: false })).toMatchObject({
    end: "completed",
    cost: undefined,
  });
  expect(await run({ poll: pending }, { isCharged: false })).toEqual({
    ...{ end: "DEADLINE_EXCEEDED", charged: 0, cost: undefined, detail: "Overdue." },
  });
});

const AT_MOST = "The cost is at most 0.060000.";

test.each([
  ["is overdue", { poll: pending }, "DEADLINE_EXCEEDED", `Overdue. ${AT_MOST}`],
  [
    "is overdue, its provider not answering",
    { poll: refuses(new Error("socket closed")) },
    "DEADLINE_EXCEEDED",
    `socket closed. ${AT_MOST}`,
  ],
  [
    "is no longer known to its provider",
    { poll: refuses(new ProviderError("fail", "UPSTREAM_ERROR", "no such job")) },
    "UPSTREAM_ERROR",
    `no such job. ${AT_MOST}`,
  ],
  [
    "was made and charged for, but is withheld",
    { poll: async () => ({ kind: "failed", code: "CONTENT_MODERATED", isCharged: true }) as const },
    "CONTENT_MODERATED",
    AT_MOST,
  ],
  [
    "cannot be brought home",
    { poll: delivers(2), fetchOutput: refuses(new ProviderError("fail", "FINALIZATION_FAILED", "gone")) },
    "FINALIZATION_FAILED",
    `gone. ${AT_MOST}`,
  ],
  ["came without outputs", { poll: delivers(0) }, "UPSTREAM_ERROR", `No outputs. ${AT_MOST}`],
  [
    "came damaged",
    {
      submit: async () =>
        ({ kind: "outputs", outputs: [{ kind: "bytes", bytes: Buffer.from("broken") }] }) as const,
    },
    "FINALIZATION_FAILED",
    `An output is damaged. ${AT_MOST}`,
  ],
  [
    "may or may not have been taken",
    { submit: refuses(new Error("connection reset")) },
    "OUTCOME_UNKNOWN",
    `Error: connection reset. ${AT_MOST}`,
  ],
] as [string, Partial<ProviderAdapter>, string, string][])(
  "what %s costs its caller nothing, and the operator at most the list price of all of it",
  async (_, script, end, detail) => {
    expect(await run(script)).toEqual({ end, charged: 0, cost: micros(60_000), detail });
  },
);

test("a task let go by its caller that its provider goes on with costs at most the whole", async () => {
  const { cancel: _cancel, ...scripted } = scriptedProvider({ poll: pending });
  const ended = await run({ ...scripted, cancel: refuses(new Error("no")) }, { isCancelled: true });
  expect(ended).toEqual({
    ...{ end: "cancelled", charged: 0, cost: micros(60_000) },
    detail: `Cancelled here; still running upstream. ${AT_MOST}`,
  });
});

test.each([
  ["its provider refused", { submit: refuses(new ProviderError("fail", "UPSTREAM_REJECTED", "no")) }],
  ["failed at its provider", { poll: async () => ({ kind: "failed", code: "UPSTREAM_ERROR" }) as const }],
  ["its provider cancelled", { poll: async () => ({ kind: "cancelled" }) as const }],
] as [string, Partial<ProviderAdapter>][])("what %s is not taken to cost anything", async (_, script) => {
  expect(await run(script)).toMatchObject({ charged: 0, cost: undefined });
});
