import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type App, createApp } from "../../src/app/app.ts";
import { openLocal } from "../../src/app/local.ts";
import { readConfig } from "../../src/app/settings.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { type Egress, EgressError } from "../../src/domain/ports/egress.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import { createEgress } from "../../src/egress/egress.ts";
import { readProblem } from "../e2e/malformed/expectations.ts";
import { BOUNDARY, formBody, multipartType } from "../e2e/malformed/form.ts";
import { leftBehind } from "../e2e/malformed/left-behind.ts";
import { mutatedForm, mutatedJson, oddHeaders, oddPaths } from "../e2e/malformed/mutations.ts";
import { rawRequest, type Sent, type Target } from "../e2e/malformed/request.ts";
import { exchange } from "../e2e/malformed/wire.ts";
import { scriptedProvider } from "../helpers/engine.ts";
import { png } from "../helpers/media.ts";

/** The same requests every time, unless asked for others: FUZZ_SEED=7 FUZZ_RUNS=20000. */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_121);
const runs = Number(process.env.FUZZ_RUNS ?? 50);
const ANSWER_WITHIN_MS = 10_000;
const TEST_MS = 60_000 + runs * 50;

const dataDir = mkdtempSync(join(tmpdir(), "svc-fuzz-"));
const picture = await png(4, 4);
const pictureUri = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`;
const errors: unknown[] = [];
let app: App;
let target: Target;
/** One that has ended. */
let task = "";

beforeAll(async () => {
  let key = "";
  const config = readConfig({ cwd: dataDir, flags: { dataDir, port: 0 } });
  app = createApp(config, {
    log: logOfErrors(),
    egress: unreachable(),
    providers: [instantProvider()],
    firstKeyKeeper: {
      keep: (first) => {
        key = first;
      },
      drop() {},
      kept: () => undefined,
    },
  });
  const { port = 0 } = await app.start();
  const local = await openLocal({ dataDir });
  const { token } = await local.manage.createToken({ name: "operator" });
  await local.stop();
  target = { port, key, managementToken: token };
  const made = await exchange(port, rawRequest(target, { path: "/v1/images/generations", body: IMAGE }));
  if (made !== "closed") task = /task_[0-9a-z]{26}/.exec(made.body)?.[0] ?? "";
  await untilSettled(task);
});

afterAll(async () => {
  await app.stop({ force: true });
  rmSync(dataDir, { recursive: true, force: true });
});

const IMAGE: JsonObject = { model: "sandbox-image", prompt: "x", size: "16x16", n: 1, seed: 7 };
const VIDEO: JsonObject = { model: "sandbox-video", prompt: "x", duration: 1, resolution: "360p" };
const WITH_INPUT: JsonObject = {
  ...IMAGE,
  image_urls: [pictureUri],
  sandbox: { delay_ms: 0, outcome: "completed" },
};

const BODIES: Readonly<Record<string, readonly JsonObject[]>> = {
  "/v1/images/generations": [IMAGE, WITH_INPUT, { ...IMAGE, callback_url: "https://example.com/x" }],
  "/v1/videos/generations": [VIDEO, { ...VIDEO, image_url: pictureUri }],
  "/compat/v1/images/generations": [
    { ...IMAGE, quality: "auto", response_format: "url", stream: false },
    WITH_INPUT,
  ],
  "/compat/v1/images/edits": [{ ...IMAGE, images: [{ image_url: pictureUri }], mask: pictureUri }],
  "/compat/v1/videos": [
    { model: "sandbox-video", prompt: "x", size: "640x360", seconds: "1" },
    { model: "sandbox-video", prompt: "x", input_reference: { image_url: pictureUri } },
  ],
  "/v1/groups": [
    { prompt: "x", models: ["sandbox-image"], grid: { seed: [1, 2] }, budget: "1.00", policy: "first" },
    { requests: [IMAGE, VIDEO], deadline_seconds: 60 },
  ],
  "/v1/tasks/{task}/variations": [{ count: 2 }],
  "/v1/tasks/{task}/retry": [{}],
  "/v1/tasks/{task}/upscale": [{ model: "sandbox-image", factor: 2, index: 0 }],
  "/v1/tasks/{task}/extend": [{ model: "sandbox-video", prompt: "x", index: 0 }],
  "/v1/tasks/{task}/cancel": [{}],
  "/v1/pricing/estimate": [IMAGE, { request: VIDEO, endpoint: "/v1/videos/generations", quantity: 3 }],
  "/admin/v1/keys": [
    {
      name: "x",
      models: ["*"],
      features: ["images"],
      allow_ips: ["10.0.0.0/8"],
      aliases: { a: "sandbox-image" },
    },
    { name: "y", expires_at: 4_000_000_000, concurrency: 1, requests_per_minute: 5, response_format: "url" },
  ],
  "/admin/v1/accounts": [{ name: "x", mode: "prepaid", credit: "5.00", currency: "USD" }],
  "/admin/v1/accounts/default/credit": [{ amount: "1.00", reason: "x" }],
};

const REQUEST: JsonObject = { jsonrpc: "2.0", id: 1, method: "tools/call" };
const TURN: JsonObject = {
  parts: [{ text: "x" }, { inlineData: { mimeType: "image/png", data: pictureUri } }],
};

/** Of other APIs, which word their errors their own ways. */
const FACADE_BODIES: Readonly<Record<string, readonly JsonObject[]>> = {
  "/fal/queue/sandbox-image": [
    { prompt: "x", image_size: { width: 16, height: 16 }, num_images: 1, image_urls: [pictureUri] },
    { prompt: "x", image_url: pictureUri, sync_mode: false, seed: 7 },
  ],
  "/fal/storage/upload/initiate": [{ content_type: "image/png", file_name: "a.png" }],
  "/replicate/v1/predictions": [
    { version: "svc/sandbox-image", input: { prompt: "x", width: 16, height: 16, image: pictureUri } },
    { version: "svc/sandbox-video", input: { prompt: "x", seconds: "1" }, webhook: "https://example.com/x" },
  ],
  "/gemini/v1beta/models/sandbox-image:generateContent": [
    { contents: [TURN], generationConfig: { candidateCount: 1, imageConfig: { aspectRatio: "1:1" } } },
  ],
  "/gemini/v1beta/models/sandbox-image:predict": [
    { instances: [{ prompt: "x" }], parameters: { sampleCount: 1, aspectRatio: "1:1" } },
  ],
  "/gemini/v1beta/models/sandbox-video:predictLongRunning": [
    { instances: [{ prompt: "x" }], parameters: { durationSeconds: 1, resolution: "360p" } },
  ],
  "/gemini/v1beta/interactions": [
    {
      ...{ model: "sandbox-image", store: true, response_format: { type: "image", aspect_ratio: "1:1" } },
      input: [{ type: "user_input", content: [{ type: "text", text: "x" }] }],
      generation_config: { video_config: { task: "edit" }, image_config: { image_size: "512" } },
    },
    {
      ...{ model: "sandbox-video", background: true, previous_interaction_id: "task_x" },
      input: [
        { type: "text", text: "x" },
        { type: "image", data: pictureUri },
      ],
      response_format: [{ type: "video", duration: "1s", resolution: "360p" }],
    },
  ],
  "/sdapi/v1/txt2img": [{ prompt: "x", width: 16, height: 16, seed: -1, batch_size: 1, n_iter: 1 }],
  "/sdapi/v1/img2img": [{ prompt: "x", init_images: [pictureUri], denoising_strength: 0.5 }],
  "/sdapi/v1/png-info": [{ image: pictureUri }],
  "/sdapi/v1/extra-single-image": [{ image: pictureUri, upscaler_1: "sandbox-image", upscaling_resize: 2 }],
  "/sdapi/v1/options": [{ sd_model_checkpoint: "sandbox-image" }],
  "/mcp": [
    { ...REQUEST, params: { name: "generate_image", arguments: { ...IMAGE, wait: 0, max_cost: "1" } } },
    { ...REQUEST, params: { name: "edit_image", arguments: { ...IMAGE, wait: 0, images: [pictureUri] } } },
    { ...REQUEST, params: { name: "get_task", arguments: { task_id: "task_x", wait: 0 } } },
  ],
};

/** What a client has to send besides its body. */
const FACADE_HEADERS = [["Accept", "application/json, text/event-stream"]] as const;

describe(`with seed ${seed}, ${runs} requests each,`, () => {
  const options = { seed, numRuns: runs };

  test.each(Object.entries(BODIES))(
    "a mangled JSON body is answered clearly by %s",
    async (path, bodies) => {
      const headers = path.startsWith("/admin/") ? [operator()] : [];
      const of = path.replace("{task}", task);
      const check = async (body: Uint8Array) => expectClearAnswer({ path: of, headers, body });
      await fc.assert(fc.asyncProperty(mutatedJson(bodies), check), options);
    },
    TEST_MS,
  );

  test.each(Object.entries(FACADE_BODIES))(
    "a mangled JSON body of another API is answered without a mistake by %s",
    async (path, bodies) => {
      const check = (body: Uint8Array) => expectNoMistake({ path, headers: FACADE_HEADERS, body });
      await fc.assert(fc.asyncProperty(mutatedJson(bodies), check), options);
    },
    TEST_MS,
  );

  test(
    "a mangled form is answered clearly",
    async () => {
      const form = formBody([
        { name: "model", content: "sandbox-image" },
        { name: "prompt", content: "x" },
        { name: "n", content: "1" },
        { name: "image", filename: "a.png", content: picture },
        { name: "mask", filename: "m.png", content: picture },
      ]);
      const check = async (body: Uint8Array) =>
        expectClearAnswer({ path: "/compat/v1/images/edits", headers: [multipartType()], body });
      await fc.assert(fc.asyncProperty(mutatedForm(form, BOUNDARY), check), options);
    },
    TEST_MS,
  );

  test.each([
    ["/v1/files", "file"],
    ["/compat/v1/images/variations", "image"],
  ])(
    "a mangled form with one file is answered clearly by %s",
    async (path, field) => {
      const form = formBody([
        { name: "name", content: "a picture" },
        { name: "model", content: "sandbox-image" },
        { name: field, filename: "a.png", content: picture },
      ]);
      const check = async (body: Uint8Array) => {
        await expectClearAnswer({ path, headers: [multipartType()], body });
        await removeUploads();
      };
      await fc.assert(fc.asyncProperty(mutatedForm(form, BOUNDARY), check), options);
    },
    TEST_MS,
  );

  test(
    "a mangled file is answered clearly, with any type and any Idempotency-Key",
    async () => {
      const types = fc.constantFrom("image/png", "video/mp4", "audio/mpeg", "application/octet-stream");
      const keys = fc.constantFrom("a", "b", "x".repeat(255), "x".repeat(256), "");
      const bytes = fc.oneof(
        fc.uint8Array({ maxLength: 64 }),
        fc.nat(picture.length).map((length) => picture.subarray(0, length)),
        fc.tuple(fc.nat(picture.length - 1), fc.nat(255)).map(([at, value]) => picture.with(at, value)),
      );
      const sent = fc.record({ type: types, key: keys, body: bytes });
      const check = async ({ type, key, body }: { type: string; key: string; body: Uint8Array }) => {
        const headers = [
          ["Content-Type", type],
          ["Idempotency-Key", key],
        ] as const;
        await expectClearAnswer({ path: "/v1/files", headers, body });
        await removeUploads();
      };
      await fc.assert(fc.asyncProperty(sent, check), options);
    },
    TEST_MS,
  );

  test(
    "a mangled form with a picture in a text is answered clearly",
    async () => {
      const form = formBody([
        { name: "model", content: "sandbox-video" },
        { name: "prompt", content: "x" },
        { name: "seconds", content: "1" },
        { name: "sandbox[delay_ms]", content: "0" },
        { name: "input_reference[image_url]", content: pictureUri },
      ]);
      const check = async (body: Uint8Array) =>
        expectClearAnswer({ path: "/compat/v1/videos", headers: [multipartType()], body });
      await fc.assert(fc.asyncProperty(mutatedForm(form, BOUNDARY), check), options);
    },
    TEST_MS,
  );

  test(
    "odd headers are answered clearly",
    async () => {
      const paths = fc.constantFrom(
        "/v1/models",
        "/v1/tasks",
        "/assets/x",
        "/openapi.json",
        "/admin/v1/keys",
      );
      const creates = fc.constantFrom("/v1/images/generations", "/compat/v1/images/generations");
      const sent = fc.oneof(
        fc.record({ path: paths, headers: oddHeaders() }),
        fc.record({ path: creates, headers: oddHeaders(), body: fc.constant(IMAGE) }),
      );
      await fc.assert(
        fc.asyncProperty(sent, (each) => expectClearAnswer(each)),
        options,
      );
    },
    TEST_MS,
  );

  test(
    "odd paths are answered clearly",
    async () => {
      const methods = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");
      const sent = fc.record({ method: methods, path: oddPaths() });
      await fc.assert(
        fc.asyncProperty(sent, (each) => expectClearAnswer(each)),
        options,
      );
    },
    TEST_MS,
  );

  test("the service noticed no mistake of its own", () => {
    expect(errors).toEqual([]);
  });
});

/** Never a 5xx, never silence; a refusal in its envelope, with a request id, and nothing kept of what was refused. */
async function expectClearAnswer(sent: Sent): Promise<void> {
  const before = leftBehind(dataDir);
  const request = rawRequest(target, sent);
  const answer = await exchange(target.port, request, { withinMs: ANSWER_WITHIN_MS });
  if (answer === "closed") throw new Error("The connection was closed without an answer.");
  expect(answer.headers.get("x-request-id") ?? "").toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(answer.status).toBeLessThan(500);
  if (answer.status < 400) return untilSettled(answer.body);
  const { envelope, code, message } = readProblem(answer);
  const path = new URL(`http://test${sent.path}`).pathname.replaceAll(/\/{2,}/g, "/");
  const isCompatible = answer.status === 401 || path.startsWith("/compat/");
  expect({ envelope, code }).toEqual({
    envelope: isCompatible ? "compatible" : "standard",
    code: expect.stringMatching(/^[a-z_]+$/),
  });
  expect(message.length).toBeGreaterThan(10);
  expect(message.length).toBeLessThan(1_000);
  expect(leftBehind(dataDir)).toEqual(before);
}

/** Never a 5xx, never silence; a refusal has a body, tells nothing of how the service is made, and leaves nothing. */
async function expectNoMistake(sent: Sent): Promise<void> {
  const before = leftBehind(dataDir);
  const answer = await exchange(target.port, rawRequest(target, sent), { withinMs: ANSWER_WITHIN_MS });
  if (answer === "closed") throw new Error("The connection was closed without an answer.");
  expect({ status: answer.status < 500, body: answer.body }).toEqual({ status: true, body: answer.body });
  if (answer.status < 400) return untilSettled(answer.body);
  expect(answer.headers.get("x-request-id") ?? "").toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(answer.body).not.toMatch(/\.ts:|\bat \w+ \(|SQLITE|\[object|undefined/);
  expect(Object.keys(JSON.parse(answer.body)).length).toBeGreaterThan(0);
  expect(leftBehind(dataDir)).toEqual(before);
}

/** Tasks that were accepted after all go on behind the answer, and would be taken for what a later request left. */
async function untilSettled(body: string): Promise<void> {
  const ids = new Set([...body.matchAll(/\b(task_[0-9a-z]{26})\b/g)].map(([id]) => id));
  for (const id of ids) {
    for (const kind of ["images", "videos"]) {
      const path = `/v1/${kind}/status/${id}?wait=10`;
      const answer = await exchange(target.port, rawRequest(target, { path }));
      if (answer !== "closed" && answer.status === 200)
        expect(answer.body).toMatch(/"status":"(?:completed|failed|cancelled)"/);
    }
  }
}

/** What was taken after all would be taken for what a later request left. */
async function removeUploads(): Promise<void> {
  const listed = await exchange(target.port, rawRequest(target, { path: "/v1/files" }));
  for (const [id] of listed === "closed" ? [] : listed.body.matchAll(/\bfile_[0-9a-z]{26}(?=")/g))
    await exchange(target.port, rawRequest(target, { method: "DELETE", path: `/v1/files/${id}` }));
}

const operator = () => ["Authorization", `Bearer ${target.managementToken}`] as const;

/** Has its pictures at once, whatever it is asked for. */
function instantProvider() {
  return scriptedProvider({
    submit: async ({ request }) => ({
      kind: "outputs",
      outputs: Array.from({ length: request.n }, () => ({ kind: "bytes" as const, bytes: picture })),
    }),
  });
}

/** Judges addresses as ever, and reaches none. */
function unreachable(): Egress {
  return {
    ...createEgress({ allow: [] }),
    fetchMedia: async () => {
      throw new EgressError("forbidden", "It may not be reached.");
    },
    deliver: async () => ({ kind: "forbidden", reason: "It may not be reached." }),
  };
}

function logOfErrors(): Log {
  return {
    debug() {},
    info() {},
    warn() {},
    error: (fields, message) => void errors.push({ fields, message }),
  };
}
