import { expect, test } from "bun:test";
import { describeModels } from "./models.ts";
import { play } from "./play.ts";

describeModels({ provider: "runway", contracts: ["runway/openapi.json"] });

const REQUEST = {
  model: "gen4.5",
  kind: "video",
  mode: "text-to-video",
  prompt: "A fox",
  params: { duration: 5, aspect_ratio: "16:9" },
} as const;
const ID = "17f20503-6c24-4c16-946b-35dbbce2af2f";
const TAKEN = { json: { id: ID, estimatedCost: { credits: 60 } } };
const job = (members: object) => ({ json: { id: ID, createdAt: "2026-11-01T00:00:00Z", ...members } });

test("runway's own word on the credits is the cost of a video", async () => {
  const made = { status: "SUCCEEDED", output: [], cost: { credits: 60 } };
  expect(await play("runway", REQUEST, [TAKEN, job(made)])).toMatchObject({
    kind: "succeeded",
    costMicros: 600_000,
  });
});

test.each([
  ["SAFETY.INPUT.TEXT", 60, { code: "CONTENT_MODERATED", isCharged: true }],
  ["SAFETY.OUTPUT.VIDEO", 0, { code: "CONTENT_MODERATED", isCharged: false }],
  ["INPUT_PREPROCESSING.SAFETY.TEXT", 0, { code: "CONTENT_MODERATED", isCharged: false }],
  ["INPUT_PREPROCESSING.INTERNAL", 0, { code: "UPSTREAM_ERROR", isCharged: false }],
  ["ASSET.INVALID", 0, { code: "UPSTREAM_REJECTED", isCharged: false }],
  ["INTERNAL.BAD_OUTPUT.CODE01", 0, { code: "UPSTREAM_ERROR", isCharged: false }],
  ["THIRD_PARTY.UNAVAILABLE", 0, { code: "UPSTREAM_ERROR", isCharged: false }],
])("runway's failure %s for %d credits is told apart", async (failureCode, credits, end) => {
  const failed = { status: "FAILED", failure: "It failed.", failureCode, cost: { credits } };
  expect(await play("runway", REQUEST, [TAKEN, job(failed)])).toMatchObject({ kind: "failed", ...end });
});

test("a runway job that waits for others of the account is pending, and so is one that is not found at once", async () => {
  expect(await play("runway", REQUEST, [TAKEN, job({ status: "THROTTLED" })])).toEqual({ kind: "pending" });
  expect(await play("runway", REQUEST, [TAKEN, { status: 404, json: { error: "Not found" } }])).toEqual({
    kind: "pending",
  });
});
