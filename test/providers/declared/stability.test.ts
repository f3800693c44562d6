import { expect, test } from "bun:test";

import { describeModels } from "./models.ts";
import { play } from "./play.ts";

describeModels({ provider: "stability", contracts: ["stability/openapi.json"] });

const PICTURE = { kind: "image", prompt: "A fox", params: {} } as const;
const REQUEST = { ...PICTURE, model: "generate/core", mode: "text-to-image" } as const;
const UPSCALE = { ...PICTURE, model: "upscale/creative", mode: "upscale", inputs: ["image"] } as const;
const picture = (reason: string) => ({
  headers: { "content-type": "image/png", "finish-reason": reason },
  body: new Uint8Array([1, 2, 3]),
});
const MODERATED = { kind: "missing", code: "CONTENT_MODERATED" };

test("a picture is the answer of stability itself", async () => {
  expect(await play("stability", REQUEST, [picture("SUCCESS")])).toMatchObject({
    kind: "succeeded",
    outputs: [{ kind: "bytes", bytes: new Uint8Array([1, 2, 3]) }],
  });
});

test("a picture that stability has blurred is moderated, though the answer is 200", async () => {
  const running = { status: 202, json: { id: "j1", status: "in-progress" } };
  const blurred = picture("CONTENT_FILTERED");
  expect(await play("stability", REQUEST, [blurred])).toMatchObject({ outputs: [MODERATED] });
  expect(await play("stability", UPSCALE, [{ json: { id: "j1" } }, running, blurred])).toMatchObject({
    outputs: [MODERATED],
  });
});

test.each([
  [400, "bad_request", "fail", "UPSTREAM_REJECTED"],
  [401, "unauthorized", "reroute", "NO_ROUTE_AVAILABLE"],
  [402, "payment_required", "reroute", "NO_ROUTE_AVAILABLE"],
  // One status for two things, told apart by the name.
  [403, "content_moderation", "fail", "CONTENT_MODERATED"],
  [403, "forbidden", "reroute", "NO_ROUTE_AVAILABLE"],
  [413, "payload_too_large", "fail", "UPSTREAM_REJECTED"],
  [422, "invalid_language", "fail", "UPSTREAM_REJECTED"],
  [422, "public_figure", "fail", "CONTENT_MODERATED"],
  [500, "internal_error", "retry", "UPSTREAM_ERROR"],
])("stability's %d %s means what its documentation says", async (status, name, disposition, code) => {
  const json = { id: "r1", name, errors: ["It is so."] };
  expect(await play("stability", REQUEST, [{ status, json }])).toMatchObject({
    kind: "refused",
    error: { disposition, code },
  });
});

test("after too many calls stability is left alone for a minute", async () => {
  const json = { id: "r1", name: "rate_limit_exceeded", errors: ["You have been timed out for 60 seconds."] };
  expect(await play("stability", REQUEST, [{ status: 429, json }])).toMatchObject({
    error: { disposition: "retry", code: "UPSTREAM_CAPACITY_EXHAUSTED", details: { retryAfterMs: 60_000 } },
  });
});
