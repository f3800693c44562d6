import { expect, test } from "bun:test";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import type { GenerationRequest } from "../../../src/domain/task/request.ts";
import type { TaskSummary } from "../../../src/domain/task/task.ts";
import { createTellPrediction } from "../../../src/http/facades/replicate/present.ts";
import { createSecrets } from "../../../src/runtime/secrets.ts";
import { newTask, taskId } from "../../helpers/store.ts";

const ORIGIN = "http://svc.example";

function setup(request: GenerationRequest = newTask().request) {
  const reads: string[] = [];
  const tell = createTellPrediction({
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
  });
  return { tell, reads };
}

/** As the store reads it: a new one each time, as long as the task goes on. */
const summary = (given: Partial<TaskSummary> = {}): TaskSummary => ({
  ...newTask(),
  ...{ status: "processing", progress: 40, cancelRequested: false, results: [], startedAt: 1_000 },
  ...given,
});

test("what a task was asked for is read once, however often it is told, and not at all where it is known", async () => {
  const { tell, reads } = setup();
  for (const progress of [10, 40, 70]) await tell(summary({ progress }), ORIGIN);
  expect(reads).toEqual([taskId(1)]);
  await tell(summary({ id: taskId(2) }), ORIGIN, newTask().request);
  await tell(summary({ id: taskId(2) }), ORIGIN);
  expect(reads).toEqual([taskId(1)]);
  // Its addresses are others elsewhere.
  expect((await tell(summary(), "http://other.example"))?.urls).toMatchObject({
    get: `http://other.example/replicate/v1/predictions/${taskId(1)}`,
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
  expect(told).toMatchObject({
    ...{ status: "failed", error: "It broke.", output: null, metrics: { predict_time: 3 } },
    logs: " 40%|████      | 40/100\nIt broke.\n",
  });
});

test("files that were removed are no output", async () => {
  const { tell } = setup();
  const results = [{ assetId: "asset_x", type: "image/png" }] as unknown as TaskSummary["results"];
  const over = summary({ status: "completed", completedAt: 4_000, results, filesRemovedAt: 9_000 });
  expect(await tell(over, ORIGIN)).toMatchObject({ status: "succeeded", output: null, data_removed: true });
});
