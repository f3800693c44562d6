import { gzipSync } from "node:zlib";
import type { JsonObject } from "../../../src/domain/json.ts";
import { among, type Malformed, TOO_LARGE, WRONG_TYPE } from "./request.ts";

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16" } as const;
const VIDEO = { model: "sandbox-video", prompt: "x", duration: 1 } as const;

/** Text of a good create with something put in the place of its prompt's value. */
const withPrompt = (json: string) => `{"model":"sandbox-image","prompt":${json}}`;
const withN = (json: string) => `{"model":"sandbox-image","prompt":"x","n":${json}}`;
const latin1 = (text: string) => Buffer.from(text, "latin1");

/** Bytes that are no UTF-8 JSON, and values that are not what the model takes, for /v1/images/generations. */
export function malformedCreates(): Malformed[] {
  return [
    ...among({ path: "/v1/images/generations" }, [...encodings(), ...structures(), ...types(), ...fields()]),
    ...among({ path: "/v1/videos/generations" }, videos()),
  ];
}

function encodings(): Malformed[] {
  const good = JSON.stringify(IMAGE);
  const json = (type: string) => [["Content-Type", type]] as const;
  return [
    { name: "UTF-16 little-endian", body: Buffer.from(good, "utf16le") },
    { name: "UTF-16 with a BOM", body: Buffer.from(`\ufeff${good}`, "utf16le"), says: "UTF-8" },
    { name: "two UTF-8 BOMs", body: `\ufeff\ufeff${good}`, says: "JSON" },
    { name: "Latin-1", body: latin1(withPrompt('"caf\xe9"')), says: "UTF-8" },
    { name: "an overlong encoding of /", body: latin1(withPrompt('"\xc0\xaf"')), says: "UTF-8" },
    { name: "a surrogate in UTF-8", body: latin1(withPrompt('"\xed\xa0\x80"')), says: "UTF-8" },
    { name: "a code point above U+10FFFF", body: latin1(withPrompt('"\xf4\x90\x80\x80"')), says: "UTF-8" },
    { name: "a UTF-8 sequence cut short", body: latin1(`${withPrompt('"x"')}\xe2\x82`), says: "UTF-8" },
    { name: "gzip that does not say so", body: gzipSync(good), says: "UTF-8" },
    { name: "gzip", body: gzipSync(good), headers: [["Content-Encoding", "gzip"]], ...WRONG_TYPE },
    {
      name: "an unknown encoding",
      body: good,
      headers: [["Content-Encoding", "Z".repeat(200)]],
      ...WRONG_TYPE,
    },
    {
      name: "no content type",
      body: good,
      without: ["content-type"],
      ...WRONG_TYPE,
      says: "application/json",
    },
    { name: "an empty content type", body: good, headers: json(""), ...WRONG_TYPE },
    {
      name: "a form's content type",
      body: good,
      headers: json("application/x-www-form-urlencoded"),
      ...WRONG_TYPE,
    },
    { name: "multipart", body: good, headers: json("multipart/form-data; boundary=x"), ...WRONG_TYPE },
    { name: "application/jsonp", body: good, headers: json("application/jsonp"), ...WRONG_TYPE },
    {
      name: "application/json in a list",
      body: good,
      headers: json("text/html, application/json"),
      ...WRONG_TYPE,
    },
    { name: "charset utf-16", body: good, headers: json("application/json; charset=utf-16"), ...WRONG_TYPE },
    { name: "charset utf-7", body: good, headers: json("application/json; charset=utf-7"), ...WRONG_TYPE },
    {
      name: "two charsets",
      body: good,
      headers: json("application/json; charset=utf-8; charset=utf-16"),
      ...WRONG_TYPE,
    },
    { name: "a content type of 4 KB", body: good, headers: json(`text/${"Z".repeat(4000)}`), ...WRONG_TYPE },
    {
      name: "two content types",
      body: good,
      headers: [
        ["Content-Type", "application/json"],
        ["Content-Type", "text/plain"],
      ],
      ...WRONG_TYPE,
    },
  ];
}

function structures(): Malformed[] {
  const inner = (json: string) => `{"model":"sandbox-image","prompt":"x","sandbox":${json}}`;
  return [
    { name: "a space", body: " ", says: "JSON" },
    { name: "a number", body: "7", says: "object" },
    { name: "true", body: "true", says: "object" },
    { name: "single quotes", body: "{'model':'sandbox-image'}", says: "JSON" },
    { name: "names without quotes", body: '{model:"sandbox-image"}', says: "JSON" },
    { name: "a tab inside a text", body: withPrompt('"a\tb"'), says: "JSON" },
    { name: "a line break inside a text", body: withPrompt('"a\nb"'), says: "JSON" },
    { name: "a bad escape", body: withPrompt('"\\x41"'), says: "JSON" },
    { name: "half an escape", body: withPrompt('"\\u00"'), says: "JSON" },
    { name: "a NUL byte", body: withPrompt('"a\0b"'), says: "JSON" },
    { name: "a NUL byte behind the object", body: `${withPrompt('"x"')}\0`, says: "JSON" },
    { name: "two objects", body: `${withPrompt('"x"')}${withPrompt('"y"')}`, says: "JSON" },
    { name: "a leading plus", body: withN("+1"), says: "JSON" },
    { name: "a leading zero", body: withN("01"), says: "JSON" },
    { name: "a hexadecimal number", body: withN("0x1"), says: "JSON" },
    { name: "Infinity", body: withN("Infinity"), says: "JSON" },
    { name: "a number too large for a double", body: withN("1e999"), param: "n" },
    { name: "a number of 10000 digits", body: withN("9".repeat(10_000)), param: "n" },
    { name: "a number just below 1", body: withN("0.9999999"), param: "n" },
    {
      name: "a field twice in an inner object",
      body: inner('{"delay_ms":0,"delay_ms":1}'),
      says: '"delay_ms" is given twice',
    },
    { name: "__proto__ twice", body: '{"__proto__":1,"__proto__":2}', says: "twice" },
    {
      name: "__proto__ escaped",
      body: '{"model":"sandbox-image","prompt":"x","\\u005f_proto__":{}}',
      param: "__proto__",
    },
    {
      name: "__proto__ in an inner object",
      body: inner('{"__proto__":{"outcome":"hang"}}'),
      param: "sandbox.__proto__",
    },
    { name: "constructor", body: { ...IMAGE, constructor: { prototype: { n: 3 } } }, param: "constructor" },
    { name: "toString", body: { ...IMAGE, toString: "x" }, param: "toString" },
    { name: "hasOwnProperty", body: { ...IMAGE, hasOwnProperty: 1 }, param: "hasOwnProperty" },
    {
      name: "__proto__ as model",
      body: { ...IMAGE, model: "__proto__" },
      status: 404,
      code: "model_not_available",
      param: "model",
    },
    {
      name: "constructor as model",
      body: { ...IMAGE, model: "constructor" },
      status: 404,
      code: "model_not_available",
      param: "model",
    },
    { name: "a name that is empty", body: { ...IMAGE, "": 1 }, param: "", says: "Unknown field" },
    {
      name: "a name of 5000 characters",
      body: { ...IMAGE, ["Z".repeat(5000)]: 1 },
      param: `${"Z".repeat(80)}…`,
      says: "Unknown field",
    },
    { name: "a name with a NUL character", body: '{"model":"sandbox-image","a\\u0000":1}', says: "NUL" },
    {
      name: "a name with half a surrogate pair",
      body: '{"model":"sandbox-image","a\\udc00":1}',
      says: "surrogate",
    },
    {
      name: "a trailing surrogate first",
      body: withPrompt('"\\udc00\\ud800"'),
      param: "prompt",
      says: "surrogate",
    },
    {
      name: "5000 unknown fields",
      body: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, i])),
      param: "model",
    },
    { name: "33 levels of objects", body: inner(`${'{"a":'.repeat(33)}1${"}".repeat(33)}`), says: "32" },
    {
      name: "32 levels and no more",
      body: withPrompt(`${"[".repeat(31)}${"]".repeat(31)}`),
      param: "prompt",
    },
    { name: "brackets that close more than they open", body: `${"]".repeat(1000)}`, says: "JSON" },
    { name: "a megabyte of white space", body: `${" ".repeat(1_000_001)}{}`, ...TOO_LARGE },
    {
      name: "a megabyte that only looks like a data URI's name",
      body: { "data:": "x".repeat(1_000_001) },
      ...TOO_LARGE,
    },
  ];
}

const TYPES: JsonObject = { "a list": [], "an object": {}, true: true, null: null, "a number": 7.5 };

/** Every field with values of every other type. */
function types(): Malformed[] {
  const names = [
    "prompt",
    "size",
    "aspect_ratio",
    "resolution",
    "output_format",
    "callback_url",
    "image_url",
    "mask_url",
  ];
  const { size: _, ...plain } = IMAGE;
  return [
    ...names.flatMap((field) =>
      Object.entries(TYPES).map(
        ([type, value]): Malformed => ({
          name: `${field}: ${type}`,
          body: { ...plain, [field]: value ?? null },
          param: field,
        }),
      ),
    ),
    ...["x", 7, true, null, {}].map(
      (value): Malformed => ({
        name: `image_urls: ${JSON.stringify(value)}`,
        body: { ...IMAGE, image_urls: value },
        param: "image_urls",
      }),
    ),
    ...[[7], [null], [["x"]], [{}], [""]].map(
      (value): Malformed => ({
        name: `image_urls: ${JSON.stringify(value)}`,
        body: { ...IMAGE, image_urls: value },
        param: "image_urls[0]",
      }),
    ),
    ...["x", [], 7, null].map(
      (value): Malformed => ({
        name: `sandbox: ${JSON.stringify(value)}`,
        body: { ...IMAGE, sandbox: value },
        param: "sandbox",
      }),
    ),
    ...[{}, [], true, 7].map(
      (value): Malformed => ({
        name: `model: ${JSON.stringify(value)}`,
        body: { ...IMAGE, model: value },
        param: "model",
      }),
    ),
  ];
}

function fields(): Malformed[] {
  const field = (name: string, value: JsonObject[string], shown = JSON.stringify(value)): Malformed => ({
    name: `${name} = ${shown?.slice(0, 40)}`,
    body: { ...IMAGE, [name]: value },
    param: name,
  });
  return [
    { ...field("prompt", "😀".repeat(4001), "4001 emoji"), says: "4001" },
    { ...field("prompt", "Z".repeat(100_000), "100000 characters"), says: "4000" },
    field("n", -0.5),
    field("n", 1e308),
    field("n", ""),
    field("n", "1"),
    field("n", []),
    field("n", {}),
    ...[
      "1x",
      "x1",
      "16x16x16",
      "16X16",
      " 16x16",
      "16x16\n",
      "-16x16",
      "16.0x16",
      "+16x16",
      "16*16",
      "4097x16",
      "16x4097",
      "0016x16",
      "１６x16",
    ].map((size) => field("size", size)),
    field("size", "Z".repeat(100_000), "100000 characters"),
    field("seed", 4_294_967_296),
    field("seed", 1.5),
    field("seed", "7"),
    field("seed", -1e100),
    field("output_format", "PNG"),
    field("output_format", "image/png"),
    field("model", "Sandbox-Image"),
    field("model", "sandbox-image "),
    field("model", "../sandbox-image"),
    field("model", "Z".repeat(201), "201 characters"),
    field("model", "sandbox-image\n"),
    { ...field("sandbox", { delay_ms: 3_600_001 }), param: "sandbox.delay_ms" },
    { ...field("sandbox", { outcome: "explode" }), param: "sandbox.outcome" },
    { ...field("sandbox", { outcome: "failed", error_code: "NOPE" }), param: "sandbox.error_code" },
    { ...field("sandbox", { fail_times: 101 }), param: "sandbox.fail_times" },
    { ...field("sandbox", { outputs_lost: "yes" }), param: "sandbox.outputs_lost" },
    field("response_format", "url"),
    field("mask", "x"),
    field("Prompt", "x"),
    field("task_id", "task_01jd0000000000000000000000"),
  ].map((each) => {
    const { body, param } = each;
    const model = typeof body === "object" && "model" in body ? String(body.model) : "";
    const isUnknownModel = param === "model" && model.length <= 200;
    return isUnknownModel ? { ...each, status: 404, code: "model_not_available" } : each;
  });
}

function videos(): Malformed[] {
  const field = (name: string, value: JsonObject[string]): Malformed => ({
    name: `${name} = ${JSON.stringify(value)?.slice(0, 40)}`,
    body: { ...VIDEO, [name]: value },
    param: name,
  });
  return [
    ...[1.5, -1, "1", null, 1e9, true].map((duration) => field("duration", duration)),
    ...[7, null, "720P", []].map((resolution) => field("resolution", resolution)),
    ...["16/9", 1.7, null].map((ratio) => field("aspect_ratio", ratio)),
    field("n", 11),
    field("size", "16x16"),
    ...[null, 7, {}, "", "task_", "task_01jd000000000000000000000Z", "TASK_01jd0000000000000000000000"].map(
      (id) => field("task_id", id),
    ),
    ...[-1, 1.5, "0", null].map(
      (index): Malformed => ({
        ...field("index", index),
        body: { ...VIDEO, task_id: "task_01jd0000000000000000000000", index },
      }),
    ),
  ];
}
