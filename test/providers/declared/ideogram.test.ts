import { expect, test } from "bun:test";
import { describeModels } from "./models.ts";
import { play } from "./play.ts";

describeModels({
  provider: "ideogram",
  contracts: ["ideogram/openapi.json", "ideogram/v2.transcribed.openapi.json"],
});

const REQUEST = {
  model: "ideogram-4-5",
  kind: "image",
  mode: "text-to-image",
  prompt: "A fox",
  n: 2,
  params: { quality: "medium", resolution: "1K" },
} as const;
const TAKEN = { json: { generation_id: "g1", generation_kind: "sampling" } };
const WITHHELD = { url: "", seed: 1, is_image_safe: false };
const done = (data: object[]) => ({
  json: { generation_id: "g1", status: "completed", data, usage_cost_usd_micros: 120_000 },
});

test("a picture that ideogram withholds keeps its place, and both are paid for", async () => {
  const urlless = { url: null, seed: 2, is_image_safe: true };
  expect(await play("ideogram", REQUEST, [TAKEN, done([WITHHELD, urlless])])).toMatchObject({
    kind: "succeeded",
    outputs: [
      { kind: "missing", code: "CONTENT_MODERATED" },
      { kind: "missing", code: "UPSTREAM_ERROR" },
    ],
    costMicros: 120_000,
  });
});

test("a withheld picture of ideogram 3.0 is moderated, though the answer is 200", async () => {
  const request = {
    model: "ideogram-v3/generate",
    kind: "image",
    mode: "text-to-image",
    prompt: "A fox",
    params: { rendering_speed: "default" },
  } as const;
  expect(
    await play("ideogram", request, [{ json: { created: "2026-11-11T00:00:00Z", data: [WITHHELD] } }]),
  ).toMatchObject({
    outputs: [{ kind: "missing", code: "CONTENT_MODERATED" }],
  });
});

test.each([
  [402, { error: "x", reject_reason: "daily_limit" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [403, { error: "x" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [422, { error: "It failed the safety checks" }, "fail", "CONTENT_MODERATED"],
  [
    429,
    { error: "x", reject_reason: "inflight_limit", max_inflight_requests: 10 },
    "retry",
    "UPSTREAM_CAPACITY_EXHAUSTED",
  ],
  // It may have run and been billed.
  [500, { error: "x" }, "unknown", "UPSTREAM_ERROR"],
])("ideogram's %d means what its documentation says", async (status, json, disposition, code) => {
  const ending = await play("ideogram", REQUEST, [{ status, json }]);
  expect(ending).toMatchObject({ kind: "refused", error: { disposition, code } });
});
