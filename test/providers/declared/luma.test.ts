import { expect, test } from "bun:test";
import { describeModels } from "./models.ts";
import { play } from "./play.ts";

describeModels({ provider: "luma", contracts: ["luma/openapi.json"] });

const REQUEST = {
  model: "ray-2",
  kind: "video",
  mode: "text-to-video",
  prompt: "Waves",
  params: { duration: 5, resolution: "720p" },
} as const;

test.each([
  ["400: Your request/prompt was moderated", "CONTENT_MODERATED"],
  ["400: Frame moderation failed", "CONTENT_MODERATED"],
  ["Job timed out", "UPSTREAM_ERROR"],
  [null, "UPSTREAM_ERROR"],
])("luma's failure_reason %j is told apart", async (failure_reason, code) => {
  const answers = [
    { json: { id: "g", state: "queued" } },
    { json: { id: "g", state: "failed", failure_reason } },
  ];
  expect(await play("luma", REQUEST, answers)).toMatchObject({ kind: "failed", code });
});

test.each([
  ["400: Your request/prompt was moderated", "fail", "CONTENT_MODERATED"],
  ["Insufficient credits", "reroute", "NO_ROUTE_AVAILABLE"],
  ["Invalid duration", "fail", "UPSTREAM_REJECTED"],
] as const)("luma's status 400 that says %j is told apart", async (detail, disposition, code) => {
  expect(await play("luma", REQUEST, [{ status: 400, json: { detail } }])).toMatchObject({
    kind: "refused",
    error: { disposition, code },
  });
});
