import { expect, test } from "bun:test";
import { describeModels } from "./models.ts";
import { play } from "./play.ts";

describeModels({ provider: "luma-agents", contracts: ["luma/agents.transcribed.openapi.json"] });

const REQUEST = { model: "uni-1", kind: "image", mode: "text-to-image", prompt: "A fox" } as const;

test.each([
  ["content_moderated", "CONTENT_MODERATED"],
  ["budget_exhausted", "NO_ROUTE_AVAILABLE"],
  ["rate_limited", "UPSTREAM_CAPACITY_EXHAUSTED"],
  ["image_too_large", "UPSTREAM_REJECTED"],
  ["unsupported_format", "UPSTREAM_REJECTED"],
  ["corrupt_input", "UPSTREAM_REJECTED"],
  ["invalid_request", "UPSTREAM_REJECTED"],
  ["generation_failed", "UPSTREAM_ERROR"],
  ["output_not_found", "UPSTREAM_ERROR"],
  ["a_code_of_next_year", "UPSTREAM_ERROR"],
  [null, "UPSTREAM_ERROR"],
])("luma's failure_code %j is told apart", async (failure_code, code) => {
  const answers = [
    { json: { id: "g", state: "queued" } },
    { json: { id: "g", state: "failed", failure_code } },
  ];
  expect(await play("luma-agents", REQUEST, answers)).toMatchObject({ kind: "failed", code });
});
