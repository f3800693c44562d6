import { expect, test } from "bun:test";
import { REHEARSED_SECRET } from "../../../src/providers/declared/rehearsal/example.ts";
import { describeModels } from "./models.ts";
import { playExample, playRefusal } from "./play.ts";

describeModels({
  provider: "gemini",
  contracts: ["gemini/media.transcribed.openapi.json", "gemini/openapi.json"],
});

const refusal = (code: number, status: string, details: readonly object[] = []) => ({
  status: code,
  json: { error: { code, status, message: "No.", details } },
});

// https://ai.google.dev/gemini-api/docs/troubleshooting, 2026-11
test.each([
  [refusal(400, "INVALID_ARGUMENT"), "fail", "UPSTREAM_REJECTED"],
  [refusal(400, "INVALID_ARGUMENT", [{ reason: "API_KEY_INVALID" }]), "reroute", "NO_ROUTE_AVAILABLE"],
  [refusal(400, "FAILED_PRECONDITION"), "reroute", "NO_ROUTE_AVAILABLE"],
  [refusal(403, "PERMISSION_DENIED"), "reroute", "NO_ROUTE_AVAILABLE"],
  [refusal(404, "NOT_FOUND"), "reroute", "NO_ROUTE_AVAILABLE"],
  [refusal(429, "RESOURCE_EXHAUSTED"), "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [refusal(500, "INTERNAL"), "retry", "UPSTREAM_ERROR"],
  [refusal(503, "UNAVAILABLE"), "retry", "UPSTREAM_CAPACITY_EXHAUSTED"],
  [refusal(504, "DEADLINE_EXCEEDED"), "unknown", "UPSTREAM_TIMEOUT"],
] as const)("%j is refused for what it means", async (answer, disposition, code) => {
  for (const name of ["text to image", "text to video", "an interaction"])
    expect(await playRefusal("gemini", name, answer)).toMatchObject({ disposition, code });
});

test.each(["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "IMAGE_SAFETY", "OTHER"])(
  "a prompt that is blocked for %s is moderated",
  async (blockReason) => {
    const answer = { json: { promptFeedback: { blockReason } } };
    expect(await playRefusal("gemini", "text to image", answer)).toMatchObject({ code: "CONTENT_MODERATED" });
  },
);

test.each([
  ["IMAGE_SAFETY", "fail", "CONTENT_MODERATED"],
  ["IMAGE_PROHIBITED_CONTENT", "fail", "CONTENT_MODERATED"],
  ["PROHIBITED_CONTENT", "fail", "CONTENT_MODERATED"],
  ["SAFETY", "fail", "CONTENT_MODERATED"],
  ["IMAGE_RECITATION", "fail", "CONTENT_MODERATED"],
  ["NO_IMAGE", "retry", "UPSTREAM_ERROR"],
  ["IMAGE_OTHER", "retry", "UPSTREAM_ERROR"],
  ["MALFORMED_RESPONSE", "retry", "UPSTREAM_ERROR"],
  ["STOP", "fail", "UPSTREAM_REJECTED"],
] as const)(
  "an answer that stops for %s, without an image, is none",
  async (finishReason, disposition, code) => {
    const answer = { json: { candidates: [{ finishReason, content: { parts: [{ text: "No." }] } }] } };
    expect(await playRefusal("gemini", "text to image", answer)).toMatchObject({ disposition, code });
  },
);

test("a video that Google names at its own address is fetched, with the key, at the address that the account has", async () => {
  const uri = "https://generativelanguage.googleapis.com/v1beta/files/1:download?alt=media";
  const video = {
    done: true,
    response: { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } },
  };
  const answers = [{ json: { name: "models/veo/operations/1" } }, { json: video }];
  const { end, arrived } = await playExample("gemini", "text to video", answers);
  expect(end).toMatchObject({ kind: "succeeded" });
  const { method, path, headers } = arrived.at(-1) ?? {};
  expect([method, path]).toEqual(["GET", "/v1beta/files/1:download?alt=media"]);
  expect(headers?.get("x-goog-api-key")).toBe(REHEARSED_SECRET);
});

test("an image counts, and a draft of it does not", async () => {
  const inlineData = { mimeType: "image/png", data: "iVBORw0KGgo=" };
  const draft = {
    candidates: [{ finishReason: "STOP", content: { parts: [{ inlineData, thought: true }] } }],
  };
  expect((await playExample("gemini", "text to image", [{ json: draft }])).end.kind).toBe("refused");
  const { end } = await playExample("gemini", "text to image");
  expect(end).toMatchObject({ outputs: [{ kind: "bytes" }], usage: { inputTokens: 8, outputTokens: 1290 } });
});

test("a refusal says when to try again", async () => {
  const answer = refusal(429, "RESOURCE_EXHAUSTED", [{ violations: [] }, { retryDelay: "34.4s" }]);
  expect(await playRefusal("gemini", "text to image", answer)).toMatchObject({ retryAfterMs: 34_400 });
});

// google.rpc.Code
test.each([
  [3, "UPSTREAM_REJECTED"],
  [4, "UPSTREAM_TIMEOUT"],
  [8, "UPSTREAM_CAPACITY_EXHAUSTED"],
  [13, "UPSTREAM_ERROR"],
  [14, "UPSTREAM_CAPACITY_EXHAUSTED"],
  [undefined, "UPSTREAM_ERROR"],
] as const)("an operation that ends with error %p is %s and costs nothing", async (number, code) => {
  const error = { message: "It failed.", ...(number !== undefined && { code: number }) };
  const answers = [{ json: { name: "models/veo/operations/a" } }, { json: { done: true, error } }];
  const { end } = await playExample("gemini", "text to video", answers);
  expect(end).toMatchObject({ kind: "failed", code, isCharged: false });
});

test("a video is fetched with the key, from where it is asked for", async () => {
  const { end, arrived } = await playExample("gemini", "text to video");
  expect(end).toMatchObject({ kind: "succeeded", outputs: [{ kind: "remote" }] });
  expect(arrived.at(-1)?.path).toBe("/made/1");
  expect(arrived.at(-1)?.headers.get("x-goog-api-key")).toBeTruthy();
});

test("an interaction that is completed in words is no success", async () => {
  const steps = [{ type: "model_output", content: [{ type: "text", text: "I cannot." }] }];
  const answers = [
    { json: { id: "v1_a", status: "queued" } },
    { json: { id: "v1_a", status: "completed", steps } },
  ];
  const { end } = await playExample("gemini", "an interaction", answers);
  expect(end).toMatchObject({ kind: "succeeded", outputs: [] });
});

test.each(["text to video", "an interaction"])(
  "a video that comes in the answer itself counts: %s",
  async (name) => {
    const bytes = Buffer.from("a video").toString("base64");
    const video = { encodedVideo: bytes, encoding: "video/mp4" };
    const veo = { name: "models/veo/operations/1", done: true };
    const answers =
      name === "text to video"
        ? [
            { json: { name: veo.name } },
            { json: { ...veo, response: { generateVideoResponse: { generatedSamples: [{ video }] } } } },
          ]
        : [
            { json: { id: "i1", status: "in_progress" } },
            {
              json: {
                ...{ id: "i1", status: "completed" },
                steps: [{ type: "model_output", content: [{ type: "video", data: bytes }] }],
              },
            },
          ];
    const { end } = await playExample("gemini", name, answers);
    expect(end).toMatchObject({
      kind: "succeeded",
      outputs: [{ kind: "bytes", bytes: Buffer.from("a video") }],
    });
  },
);
