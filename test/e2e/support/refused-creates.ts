import type { JsonObject } from "../../../src/domain/json.ts";
import { dataUri, plainImage } from "./pictures.ts";

/** A create that is refused: what is sent, and the field the answer must name. */
export interface RefusedCreate {
  readonly name: string;
  readonly body: JsonObject | string | Uint8Array<ArrayBuffer>;
  readonly path?: "images" | "videos";
  readonly headers?: Readonly<Record<string, string>>;
  /** 400 `invalid_request` unless told. */
  readonly status?: number;
  readonly code?: string;
  readonly param?: string;
  /** Must stand in the message. */
  readonly says?: string | RegExp;
}

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16" } as const;
const VIDEO = { model: "sandbox-video", prompt: "x", duration: 1 } as const;
const NO_TASK = "task_01jd0000000000000000000000";
const NO_ASSET = "asset_00000000000000000000000000";

const nested = (levels: number) => `${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}`;
const with_ = (fields: JsonObject, says?: string | RegExp): Pick<RefusedCreate, "body" | "says"> => ({
  body: { ...IMAGE, ...fields },
  ...(says === undefined ? {} : { says }),
});
const video = (fields: JsonObject): Pick<RefusedCreate, "body" | "path"> => ({
  body: { ...VIDEO, ...fields },
  path: "videos",
});

/** Bodies that no strict reader takes for a JSON object with one meaning. */
const FORMS: readonly RefusedCreate[] = [
  { name: "an empty body", body: "" },
  { name: "half an object", body: '{"model":"sandbox-image"' },
  { name: "an array", body: "[]", says: "object" },
  { name: "null", body: "null", says: "object" },
  { name: "a text", body: '"x"', says: "object" },
  { name: "a trailing comma", body: '{"model":"sandbox-image","prompt":"x",}' },
  { name: "a comment", body: '{"model":"sandbox-image","prompt":"x"/* hello */}' },
  { name: "text after the object", body: '{"model":"sandbox-image","prompt":"x"} x' },
  { name: "NaN", body: '{"model":"sandbox-image","prompt":"x","n":NaN}' },
  {
    name: "a field given twice",
    body: '{"model":"sandbox-image","prompt":"a","prompt":"b"}',
    says: '"prompt" is given twice',
  },
  {
    name: "a field given twice, once escaped",
    body: '{"model":"sandbox-image","prompt":"a","\\u0070rompt":"b"}',
    says: "twice",
  },
  { name: "33 levels", body: `{"model":"sandbox-image","prompt":${nested(33)}}`, says: "32" },
  { name: "half a million levels", body: `{"prompt":${"[".repeat(500_000)}`, says: "32" },
  { name: "a NUL character", body: '{"model":"sandbox-image","prompt":"a\\u0000b"}', param: "prompt" },
  { name: "half a surrogate pair", body: '{"model":"sandbox-image","prompt":"a\\ud83d"}', param: "prompt" },
  {
    name: "bytes that are not UTF-8",
    body: new Uint8Array([...Buffer.from('{"model":"'), 0xc3, 0x28, ...Buffer.from('"}')]),
    says: "UTF-8",
  },
  {
    name: "a body above 1 MB without data URIs",
    body: { ...IMAGE, prompt: "x".repeat(1_000_100) },
    status: 413,
    code: "request_too_large",
  },
  {
    name: "another content type",
    ...with_({}),
    headers: { "Content-Type": "text/plain" },
    status: 415,
    code: "unsupported_media_type",
  },
  {
    name: "another charset",
    ...with_({}),
    headers: { "Content-Type": "application/json; charset=latin1" },
    status: 415,
    code: "unsupported_media_type",
  },
  {
    name: "an encoded body",
    ...with_({}),
    headers: { "Content-Encoding": "gzip" },
    status: 415,
    code: "unsupported_media_type",
  },
];

/** Values a model's own schema refuses. */
const FIELDS: readonly RefusedCreate[] = [
  { name: "no model", body: { prompt: "x" }, param: "model" },
  { name: "a model that is a number", ...with_({ model: 5 }), param: "model" },
  { name: "an empty model", ...with_({ model: "" }), param: "model" },
  {
    name: "an unknown model",
    ...with_({ model: "sandbox-imag" }),
    status: 404,
    code: "model_not_available",
    param: "model",
  },
  {
    name: "a video model",
    body: { ...VIDEO },
    status: 404,
    code: "model_not_available",
    says: "/v1/videos/generations",
  },
  {
    name: "an image model for a video",
    body: { ...IMAGE },
    path: "videos",
    status: 404,
    code: "model_not_available",
    says: "/v1/images/generations",
  },
  { name: "an unknown field", ...with_({ promt: "y" }, /did you mean "?prompt/i), param: "promt" },
  {
    name: "__proto__",
    body: '{"model":"sandbox-image","prompt":"x","__proto__":{"n":3}}',
    says: "__proto__",
  },
  { name: "no prompt", body: { model: "sandbox-image" }, param: "prompt" },
  { name: "a prompt that is a number", ...with_({ prompt: 7 }), param: "prompt" },
  { name: "an empty prompt", ...with_({ prompt: "" }), param: "prompt" },
  { name: "a prompt of 4001 characters", ...with_({ prompt: "é".repeat(4001) }, "4000"), param: "prompt" },
  ...[0, 11, 1.5, -1, 1e9, "2", true, null].map((n) => ({
    name: `n = ${JSON.stringify(n)}`,
    ...with_({ n }),
    param: "n",
  })),
  ...["0x0", "1e3x1", "99999x99999", "64", "64×64", 64].map((size) => ({
    name: `size = ${JSON.stringify(size)}`,
    ...with_({ size }),
    param: "size",
  })),
  { name: "size and aspect_ratio", ...with_({ aspect_ratio: "1:1" }), param: "aspect_ratio" },
  {
    name: "an odd aspect_ratio",
    body: { model: "sandbox-image", prompt: "x", aspect_ratio: "7:3" },
    param: "aspect_ratio",
  },
  { name: "an unknown output_format", ...with_({ output_format: "gif" }, "webp"), param: "output_format" },
  { name: "a negative seed", ...with_({ seed: -1 }), param: "seed" },
  {
    name: "an unknown sandbox field",
    ...with_({ sandbox: { delay: 1 } }, "delay_ms"),
    param: "sandbox.delay",
  },
  { name: "a negative delay", ...with_({ sandbox: { delay_ms: -1 } }), param: "sandbox.delay_ms" },
  {
    name: "an error code for a success",
    ...with_({ sandbox: { error_code: "UPSTREAM_ERROR" } }),
    param: "sandbox.error_code",
  },
  { name: "duration 0", ...video({ duration: 0 }), param: "duration" },
  { name: "duration 11", ...video({ duration: 11 }), param: "duration" },
  { name: "an unknown resolution", ...video({ resolution: "4k" }), param: "resolution" },
  { name: "index without task_id", ...video({ index: 0 }), param: "index", says: "task_id" },
  {
    name: "image_url and task_id",
    ...video({ image_url: "https://example.com/a.png", task_id: NO_TASK }),
    param: "task_id",
  },
  { name: "the task_id of no task", ...video({ task_id: NO_TASK }), param: "task_id" },
  { name: "a task_id that is none", ...video({ task_id: "' OR 1=1" }), param: "task_id" },
];

const CALLBACKS: readonly RefusedCreate[] = [
  "not a url",
  "ftp://example.com/x",
  "http://127.0.0.1:9/x",
  "http://[::ffff:127.0.0.1]/x",
  "http://169.254.169.254/latest/meta-data",
  "http://0x7f.1/x",
  "https://user:secret@example.com/x",
  `https://example.com/${"x".repeat(2050)}`,
].map((callback_url) => ({
  name: `callback_url = ${callback_url.slice(0, 50)}`,
  ...with_({ callback_url }),
  param: "callback_url",
}));

async function media(): Promise<RefusedCreate[]> {
  const png = await plainImage(32, 32);
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>');
  const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
  const vast = Buffer.from(png);
  vast.writeUInt32BE(50_000, 16);
  vast.writeUInt32BE(50_000, 20);
  const urls: [string, string][] = [
    ["bad base64", "data:image/png;base64,@@@@"],
    ["base64 of an impossible length", "data:image/png;base64,AAAAA"],
    ["no content", "data:image/png;base64,"],
    ["a data URI that is not base64", "data:image/png,hello"],
    ["an SVG", dataUri(svg, "image/svg+xml")],
    ["an SVG that calls itself a PNG", dataUri(svg)],
    ["a GIF", dataUri(gif, "image/gif")],
    ["half a PNG", dataUri(png.subarray(0, Math.floor(png.length / 2)))],
    ["a PNG of 50000 by 50000", dataUri(vast)],
    ["plain text", dataUri(Buffer.from("hello"), "text/plain")],
    ["no URL", "hello"],
    ["a file", "file:///etc/passwd"],
    ["an address of this machine", "http://127.0.0.1:22/x.png"],
    ["an address of a private network", "https://10.0.0.1/x.png"],
  ];
  return [
    ...urls.map(([name, image_url]) => ({
      name: `image_url: ${name}`,
      ...with_({ image_url }),
      param: "image_url",
    })),
    {
      name: "a bad second image",
      ...with_({ image_urls: [dataUri(png), dataUri(svg)] }),
      param: "image_urls[1]",
    },
    { name: "no images", ...with_({ image_urls: [] }), param: "image_urls" },
    {
      name: "eleven images",
      ...with_({ image_urls: Array.from({ length: 11 }, () => dataUri(png)) }),
      param: "image_urls",
    },
    {
      name: "image_url and image_urls",
      ...with_({ image_url: dataUri(png), image_urls: [dataUri(png)] }),
      param: "image_urls",
    },
    { name: "a mask without an image", ...with_({ mask_url: dataUri(png) }), param: "mask_url" },
    {
      name: "an image where a video belongs",
      body: { model: "sandbox-video-edit", video_url: dataUri(png, "video/mp4") },
      path: "videos",
      param: "video_url",
    },
  ];
}

/** @param origin of the server, for addresses of its own that name nothing */
export async function refusedCreates(origin: string): Promise<RefusedCreate[]> {
  const own = {
    name: "an asset that is not stored",
    ...with_({ image_url: `${origin}/assets/${NO_ASSET}.png` }),
    param: "image_url",
  };
  return [...FORMS, ...FIELDS, ...CALLBACKS, ...(await media()), own];
}
