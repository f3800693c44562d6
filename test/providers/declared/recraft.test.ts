import { expect, test } from "bun:test";
import { describeModels } from "./models.ts";
import { play } from "./play.ts";

describeModels({ provider: "recraft", contracts: ["recraft/openapi.json"] });

const REQUEST = {
  model: "recraftv4_1",
  kind: "image",
  mode: "text-to-image",
  prompt: "A fox",
  n: 2,
} as const;

test("a picture of recraft that is not there keeps its place, and the units that were taken are the cost", async () => {
  const data = [{ image_id: "1" }, { image_id: "2", url: "data:image/png;base64,aGk=" }];
  const answer = { json: { created: 1, credits: 70, data } };
  expect(await play("recraft", REQUEST, [answer])).toMatchObject({
    outputs: [{ kind: "missing", code: "UPSTREAM_ERROR" }, { kind: "bytes" }],
    costMicros: 70_000,
  });
});

test.each([
  [400, { message: "size 1x1 is not supported by recraftv4_1" }, "fail", "UPSTREAM_REJECTED"],
  [400, { message: "The prompt was rejected by content moderation." }, "fail", "CONTENT_MODERATED"],
  [400, { code: "not_enough_credits", message: "not_enough_credits" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [402, {}, "reroute", "NO_ROUTE_AVAILABLE"],
  [401, "request unauthorized", "reroute", "NO_ROUTE_AVAILABLE"],
  [404, "404 page not found", "reroute", "NO_ROUTE_AVAILABLE"],
  [429, "too many requests", "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  // A picture may have been made and charged.
  [502, "Bad Gateway", "unknown", "UPSTREAM_ERROR"],
])("recraft's %d %j means what it says", async (status, said, disposition, code) => {
  const answer = typeof said === "string" ? { status, body: said } : { status, json: said };
  expect(await play("recraft", REQUEST, [answer])).toMatchObject({
    kind: "refused",
    error: { disposition, code },
  });
});
