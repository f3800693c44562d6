import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  IN_PROGRESS_RETRY_SEC,
  MAX_COMPAT_PROMPT,
  MAX_EDIT_IMAGES,
  MAX_IDEMPOTENCY_KEY,
  MAX_INPUT_BYTES,
  MAX_JSON_BYTES,
  MAX_JSON_DEPTH,
  MAX_JSON_TEXT_BYTES,
  MAX_LIST_LIMIT,
  MAX_STATUS_WAIT_SEC,
} from "../../src/domain/limits.ts";
import { type Server, startServer, stopServers } from "../helpers/server.ts";
import { type Answer, type Api, createApi } from "./support/api.ts";
import { formOf } from "./support/forms.ts";
import { dataUri, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

/*
 * Each limit of src/domain/limits.ts that a request can reach, at the limit and one past it. The rest: the default address's
 * timeout and the wait window in edge and compat-waits, callback sends and the retention of idempotency records in the contract
 * suites of the stores, orphans beside their service, outputs beside the scheduler.
 */

const TINY = { model: "sandbox-image", prompt: "x", size: "1x1", sandbox: { delay_ms: 0 } };
let server: Server;
let api: Api;

beforeAll(async () => {
  server = await startServer();
  api = createApi(server.url, server.firstKey());
});
afterAll(stopServers);

const create = (body: object, headers: Record<string, string> = {}) =>
  api.create({ ...TINY, ...body }, headers);
const generate = (body: object) => api.send("/compat/v1/images/generations", { body: { ...TINY, ...body } });
const codeOf = ({ status, body }: Answer) => [status, body.data?.error_code ?? body.error?.code];
const OK = [200, undefined];
const INVALID = [400, "invalid_request"];
const TOO_LARGE = [413, "request_too_large"];

test("an Idempotency-Key has at most 255 characters", async () => {
  const key = (length: number) => ({ "Idempotency-Key": "k".repeat(length) });
  expect(codeOf(await create({}, key(MAX_IDEMPOTENCY_KEY)))).toEqual(OK);
  expect(codeOf(await create({}, key(MAX_IDEMPOTENCY_KEY + 1)))).toEqual([400, "invalid_idempotency_key"]);
});

test("a second request while the first is being processed is told to come back in a second", async () => {
  const image = await plainImage(2000, 2000);
  const send = () => create({ size: "auto", image_url: dataUri(image) }, { "Idempotency-Key": "same" });
  const answers = await Promise.all(Array.from({ length: 12 }, send));
  const early = answers.filter((answer) => answer.status === 409);
  expect(early.length).toBeGreaterThan(0);
  for (const answer of early) {
    expect(codeOf(answer)).toEqual([409, "idempotency_in_progress"]);
    expect(answer.headers.get("retry-after")).toBe(String(IN_PROGRESS_RETRY_SEC));
  }
});

test("a prompt of a synchronous call has 1 to 4000 characters", async () => {
  expect(codeOf(await generate({ prompt: "🦊".repeat(MAX_COMPAT_PROMPT) }))).toEqual(OK);
  expect(codeOf(await generate({ prompt: "🦊".repeat(MAX_COMPAT_PROMPT + 1) }))).toEqual(INVALID);
  expect(codeOf(await generate({ prompt: "" }))).toEqual(INVALID);
});

test("n is 1 to 10, on both APIs", async () => {
  for (const n of [1, 10]) {
    expect(codeOf(await generate({ n }))).toEqual(OK);
    expect(codeOf(await create({ n }))).toEqual(OK);
  }
  for (const n of [0, 11]) {
    expect(codeOf(await generate({ n }))).toEqual(INVALID);
    expect(codeOf(await create({ n }))).toEqual(INVALID);
  }
});

async function edit(images: number, bytes: Uint8Array): Promise<Answer> {
  const fields = { model: "sandbox-image", prompt: "x", size: "1x1", sandbox: '{"delay_ms":0}' };
  const files = Array.from({ length: images }, () => ["image", bytes] as const);
  return api.send("/compat/v1/images/edits", await formOf(fields, files));
}

/** A valid PNG of exactly so many bytes: a small picture, and a chunk of text that nobody reads. */
async function pngOf(sizeBytes: number): Promise<Uint8Array> {
  const png = Buffer.from(await plainImage(4, 4));
  const end = png.subarray(png.length - 12);
  const data = Buffer.alloc(sizeBytes - png.length - 12, 0x20);
  data.write("Comment\0");
  const body = Buffer.concat([Buffer.from("tEXt"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(Bun.hash.crc32(body));
  return Buffer.concat([png.subarray(0, png.length - 12), length, body, checksum, end]);
}

test("an edit takes at most 10 images of at most 10 MB", async () => {
  const small = await plainImage(4, 4);
  expect(codeOf(await edit(MAX_EDIT_IMAGES, small))).toEqual(OK);
  expect(codeOf(await edit(MAX_EDIT_IMAGES + 1, small))).toEqual(INVALID);
  expect(codeOf(await edit(1, await pngOf(MAX_INPUT_BYTES.image)))).toEqual(OK);
  expect(codeOf(await edit(1, await pngOf(MAX_INPUT_BYTES.image + 1)))).toEqual(INVALID);
});

test("an inline image has at most 10 MB", async () => {
  expect(codeOf(await create({ image_url: dataUri(await pngOf(MAX_INPUT_BYTES.image)) }))).toEqual(OK);
  expect(codeOf(await create({ image_url: dataUri(await pngOf(MAX_INPUT_BYTES.image + 1)) }))).toEqual(
    INVALID,
  );
});

test("a JSON body has at most 32 MB, and 1 MB without data URIs", async () => {
  const bodyOf = (length: number, value: (filler: number) => string) => {
    const rest = JSON.stringify({ ...TINY, prompt: value(0) }).length;
    return JSON.stringify({ ...TINY, prompt: value(length - rest) });
  };
  const post = (body: string) => api.send("/v1/images/generations", { body });
  const text = (filler: number) => "x".repeat(filler);
  const inline = (filler: number) => `data:image/png;base64,${"x".repeat(filler)}`;
  // Taken as bodies; the prompt is then too long for the model.
  expect(codeOf(await post(bodyOf(MAX_JSON_TEXT_BYTES, text)))).toEqual(INVALID);
  expect(codeOf(await post(bodyOf(MAX_JSON_TEXT_BYTES + 1, text)))).toEqual(TOO_LARGE);
  expect(codeOf(await post(bodyOf(MAX_JSON_BYTES, inline)))).toEqual(INVALID);
  expect(codeOf(await post(bodyOf(MAX_JSON_BYTES + 1, inline)))).toEqual(TOO_LARGE);
});

test("JSON is nested at most 32 deep", async () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  const messageOf = async (depth: number) =>
    (await api.send("/v1/images/generations", { body: nested(depth) })).body.message;
  expect(await messageOf(MAX_JSON_DEPTH)).not.toContain("nested");
  expect(await messageOf(MAX_JSON_DEPTH + 1)).toContain("nested");
});

test("a status request waits 0 to 60 seconds, and a page has 1 to 100 tasks", async () => {
  const id = await api.accept(TINY);
  await api.wait(id);
  const status = (wait: number) => api.send(`/v1/images/status/${id}?wait=${wait}`);
  expect(codeOf(await status(MAX_STATUS_WAIT_SEC))).toEqual(OK);
  const clamped = await status(MAX_STATUS_WAIT_SEC + 1);
  expect(codeOf(clamped)).toEqual(OK);
  expect(clamped.headers.get("preference-applied")).toBe(`wait=${MAX_STATUS_WAIT_SEC}`);
  expect(codeOf(await api.send(`/v1/tasks?limit=${MAX_LIST_LIMIT}`))).toEqual(OK);
  expect(codeOf(await api.send(`/v1/tasks?limit=${MAX_LIST_LIMIT + 1}`))).toEqual(INVALID);
});
