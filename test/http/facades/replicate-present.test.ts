import { expect, test } from "bun:test";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { GenerationRequest } from "../../../src/domain/task/request.ts";
import { summaryOfNew, type TaskSummary } from "../../../src/domain/task/task.ts";
import {
  createTellPrediction,
  type PredictionDeps,
  presentNewPrediction,
  type TellPrediction,
} from "../../../src/http/facades/replicate/present.ts";
import { createSecrets } from "../../../src/runtime/secrets.ts";
import { newTask, taskId } from "../../helpers/store.ts";

const ORIGIN = "http://svc.example";

function setup(request: GenerationRequest = newTask().request) {
  const reads: string[] = [];
  const deps: PredictionDeps = {
    tasks: {
      async requestOf({ id }) {
        reads.push(id);
        return request;
      },
      assetById: async () => undefined,
    },
    catalog: createCatalog(),
    secrets: createSecrets(),
    streamPath: ({ id }) => `/stream/${id}`,
  };
  return { deps, tell: createTellPrediction(deps), reads };
}

/** As the store reads it: a new one each time, as long as the task goes on. */
const summary = (given: Partial<TaskSummary> = {}): TaskSummary => ({
  ...newTask(),
  ...{ status: "processing", progress: 40, cancelRequested: false, results: [], startedAt: 1_000 },
  ...given,
});

/** What was told, as its reader has it. */
async function read(telling: ReturnType<TellPrediction>): Promise<JsonObject> {
  const { text = "null" } = (await telling) ?? {};
  return JSON.parse(text);
}

test("what a task was asked for is read once, however often it is told", async () => {
  const { tell, reads } = setup();
  for (const progress of [10, 40, 70]) await tell(summary({ progress }), ORIGIN);
  expect(reads).toEqual([taskId(1)]);
  // Its addresses are others elsewhere.
  const { urls } = await read(tell(summary(), "http://other.example"));
  expect(urls).toMatchObject({ get: `http://other.example/replicate/v1/predictions/${taskId(1)}` });
});

test("a new task is told without being read, and as it is when it is read", async () => {
  const { deps, tell, reads } = setup();
  const told = JSON.parse(await presentNewPrediction(deps, newTask(), ORIGIN));
  expect(reads).toEqual([]);
  expect(told).toEqual(await read(tell(summaryOfNew(newTask()), ORIGIN)));
  expect(told).toMatchObject({ id: taskId(1), status: "starting", output: null });
});

test("a prediction is JSON whatever its prompt, its parameters and its error have", async () => {
  const text = 'A "fox"\n\\ \u2028';
  const { request } = newTask();
  const { tell } = setup({
    ...request,
    prompt: text,
    parameters: { style: text, [text]: 1 },
    cancelAt: 90_000,
  });
  const error = { code: "UPSTREAM_ERROR", message: text } as const;
  expect(await read(tell(summary({ status: "failed", error, completedAt: 4_000 }), ORIGIN))).toMatchObject({
    ...{ input: { prompt: text, style: text, [text]: 1 }, error: text, deadline: "1970-01-01T00:01:30.000Z" },
    ...{ started_at: "1970-01-01T00:00:01.000Z", completed_at: "1970-01-01T00:00:04.000Z" },
  });
});

test("what has ended is told by the same object", async () => {
  const { tell } = setup();
  const over = summary({
    status: "failed",
    error: { code: "UPSTREAM_ERROR", message: "It broke." },
    completedAt: 4_000,
  });
  const told = await tell(over, ORIGIN);
  expect(await tell(over, ORIGIN)).toBe(told!);
  expect(await read(tell(over, ORIGIN))).toMatchObject({
    ...{ status: "failed", error: "It broke.", output: null, metrics: { predict_time: 3 } },
    logs: " 40%|████      | 40/100\nIt broke.\n",
  });
});

test("files that were removed are no output", async () => {
  const { tell } = setup();
  const results = [{ assetId: "asset_x", type: "image/png" }] as unknown as TaskSummary["results"];
  const over = summary({ status: "completed", completedAt: 4_000, results, filesRemovedAt: 9_000 });
  expect(await read(tell(over, ORIGIN))).toMatchObject({
    status: "succeeded",
    output: null,
    data_removed: true,
  });
});
