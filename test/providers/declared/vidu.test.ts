import { expect, test } from "bun:test";
import type { JsonObject } from "../../../src/domain/json.ts";
import { rejection } from "../../contracts/provider.ts";
import { describeModels } from "./models.ts";
import { play, submitExample } from "./play.ts";

describeModels({ provider: "vidu", contracts: ["vidu/openapi.json"] });

const REQUEST = {
  model: "viduq3-pro",
  kind: "video",
  mode: "text-to-video",
  prompt: "Waves",
  params: { duration: 5, resolution: "720p" },
} as const;

test.each([
  ["TaskPromptPolicyViolation", "CONTENT_MODERATED"],
  ["AuditSubmitIllegal", "CONTENT_MODERATED"],
  ["CreditInsufficient", "NO_ROUTE_AVAILABLE"],
  ["TaskConcurrencyLimitExceeded", "UPSTREAM_CAPACITY_EXHAUSTED"],
  ["ImageDownloadFailure", "UPSTREAM_REJECTED"],
  ["ModelUnavailable", "UPSTREAM_ERROR"],
] as const)("vidu's err_code %s is a failure in any state", async (code, error) => {
  for (const state of ["failed", "success", "processing"]) {
    const job = {
      json: { id: "9", state, err_code: code, creations: [{ id: "c", url: "https://x.example/a.mp4" }] },
    };
    const taken = { json: { task_id: "9", state: "created" } };
    expect(await play("vidu", REQUEST, [taken, job])).toMatchObject({ kind: "failed", code: error });
  }
});

test("a job of which the form reads more than is known is asked for again, because another node may have its form", async () => {
  using job = await submitExample("vidu", "text to video", () => ({ json: {} }));
  const operation = { ...(job.operation as JsonObject), values: { renamed: "1" } };
  const { signal } = new AbortController();
  const error = await rejection(job.adapter.poll?.(operation, signal) ?? Promise.resolve());
  expect(error).toMatchObject({ disposition: "retry" });
  expect(await job.adapter.cancel?.(operation, signal)).toBe("unable");
  expect(job.arrived).toHaveLength(1);
});
