import { expect, test } from "bun:test";
import { describeModels } from "./models.ts";
import { exampleOf, playExample, playRefusal, watch } from "./play.ts";

describeModels({
  provider: "xai",
  contracts: ["xai/openapi.json"],
  // Image 2.0 came after the contract was written, and its quality with it.
  isOutdated: (problem) => problem === "/quality is no field of the contract",
});

test.each([
  [
    400,
    { code: "invalid argument", error: "Generated image rejected by content moderation." },
    "fail",
    "CONTENT_MODERATED",
  ],
  [400, { error: { message: "Bad aspect ratio", code: "invalid" } }, "fail", "UPSTREAM_REJECTED"],
  [400, { error: { message: "Incorrect API key provided" } }, "reroute", "NO_ROUTE_AVAILABLE"],
  [401, { error: "Incorrect API key provided: xa***" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [403, { error: "Your team has used all available credits." }, "reroute", "NO_ROUTE_AVAILABLE"],
  [404, { error: "The model does not exist" }, "reroute", "NO_ROUTE_AVAILABLE"],
  [422, { error: "missing field" }, "fail", "UPSTREAM_REJECTED"],
  [429, { error: "Too many requests" }, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [503, { error: "Overloaded" }, "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
] as const)("%i %j is refused for what it means", async (status, json, disposition, code) => {
  for (const name of ["text to image", "image to video"])
    expect(await playRefusal("xai", name, { status, json })).toMatchObject({ disposition, code });
});

test("a placeholder in the place of a withheld image is no image", async () => {
  const data = [{ b64_json: "iVBORw0KGgo=", respect_moderation: false }, { b64_json: "iVBORw0KGgo=" }];
  const { end } = await playExample("xai", "text to image", [{ json: { data } }]);
  expect(end).toMatchObject({ outputs: [{ kind: "missing", code: "CONTENT_MODERATED" }, { kind: "bytes" }] });
});

test("a request costs what xAI says it does", async () => {
  expect((await playExample("xai", "text to image")).end).toMatchObject({ costMicros: 80_000 });
  expect((await playExample("xai", "image to video")).end).toMatchObject({ costMicros: 350_000 });
});

test("a video that is withheld is charged, and one that failed is not", async () => {
  const withheld = { kind: "failed", code: "CONTENT_MODERATED", isCharged: true };
  expect((await playExample("xai", "a video that is withheld")).end).toMatchObject(withheld);
  const answers = [{ json: { request_id: "r" } }, { json: { status: "done", video: { url: "" } } }];
  expect((await playExample("xai", "image to video", answers)).end).toMatchObject(withheld);
  const failed = { kind: "failed", code: "UPSTREAM_ERROR", isCharged: false };
  expect((await playExample("xai", "a video that could not be made")).end).toMatchObject(failed);
});

test("the key does not go to where videos are fetched from", async () => {
  const { arrived } = await playExample("xai", "image to video");
  expect(arrived.at(-1)?.path).toBe("/made/1");
  expect(arrived.at(-1)?.headers.get("authorization")).toBeNull();
});

test("an image that comes as an address is fetched there, though it was asked for inline", async () => {
  const { request } = exampleOf("xai", "text to image");
  const { end } = await watch("xai", request, (origin) => [
    { json: { data: [{ url: `${origin}/made/1` }] } },
  ]);
  expect(end).toMatchObject({ kind: "succeeded", outputs: [{ kind: "remote" }] });
});
