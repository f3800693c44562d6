import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson } from "../../src/domain/canonical-json.ts";
import { AppError } from "../../src/domain/errors.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import { readJsonPieces } from "../../src/http/read-json.ts";
import { parseJsonObject } from "../../src/http/strict-json.ts";
import { createSecrets } from "../../src/runtime/secrets.ts";
import { hashCanonical, type InlineFiles } from "../../src/service/inline-files.ts";
import { memoryAssets } from "../helpers/engine.ts";

/** Reads a text in pieces of one size. */
function read(text: string | Uint8Array, pieceBytes = 65_536, receiver?: "none" | "bare") {
  const bytes = Buffer.from(text);
  let at = 0;
  const next = async () => {
    if (at >= bytes.length) return undefined;
    at += pieceBytes;
    return bytes.subarray(at - pieceBytes, at);
  };
  const body = { next, take: () => undefined, takeFile: async () => undefined, turn: () => undefined };
  const takesBare = receiver === "bare";
  return readJsonPieces(
    body,
    receiver === "none" ? undefined : { ...memoryAssets(), takesBare },
    parseJsonObject,
  );
}

async function refusal(text: string | Uint8Array, receiver?: "none"): Promise<string> {
  try {
    await read(text, 65_536, receiver);
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

const contentOf = async (files: InlineFiles | undefined, standIn: Json | undefined) => {
  const file = files?.get(String(standIn));
  if (file === undefined) throw new Error("There is no such file.");
  return Buffer.concat(await Array.fromAsync(file.file.read(1000)));
};

const secrets = createSecrets();
const HEADER = "data:image/png;base64,";

test("the content of large data URIs is decoded as it arrives, and the rest is as JSON.parse reads it", async () => {
  const first = Buffer.from(crypto.getRandomValues(new Uint8Array(40_001)));
  const second = Buffer.from(crypto.getRandomValues(new Uint8Array(30_000)));
  const small = `${HEADER}AAAA`;
  const text = JSON.stringify({
    prompt: "x",
    image_urls: [HEADER + first.toString("base64"), small],
    mask_url: HEADER + second.toString("base64"),
  });
  const { body, inlineFiles } = await read(text, 7_001);
  const { prompt, image_urls, mask_url } = body as { prompt: Json; image_urls: Json[]; mask_url: Json };
  expect([prompt, image_urls[1]]).toEqual(["x", small]);
  expect(await contentOf(inlineFiles, image_urls[0])).toEqual(first);
  expect(await contentOf(inlineFiles, mask_url)).toEqual(second);
  expect(String(mask_url).length).toBeLessThan(200);
});

test("large base64 without a header is a file where that is asked for, and has the hash of the body as it was sent", async () => {
  const content = Buffer.from(crypto.getRandomValues(new Uint8Array(40_001)));
  const prompt = "a fox ".repeat(5_000);
  const sent = { prompt, data: content.toString("base64") };
  const { body, inlineFiles } = await read(JSON.stringify(sent), 7_001, "bare");
  expect(body.prompt).toBe(prompt);
  expect(await contentOf(inlineFiles, body.data)).toEqual(content);
  const hash = await hashCanonical(secrets, { value: body, files: inlineFiles });
  expect(hash).toBe(secrets.hash(canonicalJson(sent)));
  expect((await read(JSON.stringify(sent), 7_001)).body).toEqual(sent);
});

test("base64 in lines, and in the alphabet of URLs, is a file like any other", async () => {
  const content = Buffer.from(crypto.getRandomValues(new Uint8Array(40_001)));
  const usual = content.toString("base64");
  const lines = usual.replace(/.{64}/g, "$&\n").replaceAll("+", "-").replaceAll("/", "_");
  const hashOf = async (sent: JsonObject) => {
    const { body, inlineFiles } = await read(JSON.stringify(sent), 7_001, "bare");
    expect(await contentOf(inlineFiles, body.bare)).toEqual(content);
    expect(await contentOf(inlineFiles, body.uri)).toEqual(content);
    return hashCanonical(secrets, { value: body, files: inlineFiles });
  };
  const bothAs = (text: string) => hashOf({ bare: text, uri: HEADER + text });
  expect(await bothAs(lines)).toBe(await bothAs(usual));
});

test("a body has the hash of its canonical JSON, whatever the pieces, the escapes and the padding", async () => {
  const bodies = fc.record({
    size: fc.integer({ min: 12_300, max: 90_000 }),
    isPadded: fc.boolean(),
    isEscaped: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      bodies,
      fc.integer({ min: 100, max: 70_000 }),
      async ({ size, isPadded, isEscaped }, piece) => {
        const base64 = Buffer.from(
          crypto.getRandomValues(new Uint8Array(60_000)).subarray(0, Math.min(size, 60_000)),
        ).toString("base64");
        const uri = HEADER + (isPadded ? base64 : base64.replace(/=+$/, ""));
        const value = { z: ["é", uri], a: { image: uri }, "data:": 1 };
        const json = JSON.stringify(value);
        const text = isEscaped ? json.replaceAll("/", "\\/").replaceAll("+", "\\u002B") : json;
        const { body, inlineFiles } = await read(text, piece);
        expect(inlineFiles?.size).toBe(2);
        const hash = await hashCanonical(secrets, { before: "k\n", value: body, files: inlineFiles });
        expect(hash).toBe(secrets.hash(`k\n${canonicalJson(value)}`));
      },
    ),
    { numRuns: 30 },
  );
});

test("a megabyte of text is taken and no more, and the content of data URIs does not count", async () => {
  const body = (length: number) => `{"a":"${"x".repeat(length - 8)}"}`;
  const told = "request_too_large: The body has more than 1000000 bytes besides the content of data URIs.";
  expect(await refusal(body(1_000_000))).toBe("accepted");
  expect(await refusal(body(1_000_001))).toBe(told);
  expect(await refusal(`{"a":"data:,${"x".repeat(1_000_000)}"}`)).toBe(told);
  const uri = `{"a":"${HEADER}${"A".repeat(5_000_000)}"}`;
  expect(await refusal(uri)).toBe("accepted");
  expect(await refusal(uri, "none")).toBe(told);
});

test("a caller's own text cannot stand for a file", async () => {
  const uri = HEADER + "A".repeat(20_000);
  const standIn = JSON.stringify(`${HEADER}${"A".repeat(100)}\0${0}`);
  expect(await refusal(`{"a":"${uri}","b":${standIn}}`)).toBe("invalid_request: b contains a NUL character.");
  expect(await refusal(`{"a":${standIn},"b":"${uri}"}`)).toBe("invalid_request: b contains a NUL character.");
});

test("what a small body is refused for, a large one is refused for in the same words", async () => {
  const uri = `"${HEADER}${"A".repeat(20_000)}"`;
  expect(await refusal(`{"a":${uri},"a":1}`)).toBe('invalid_request: The field "a" is given twice.');
  expect(await refusal(`{"a":${uri}`)).toBe(
    "invalid_request: The body is not valid JSON: it ends before its last closing bracket.",
  );
  expect(await refusal(`[${uri}]`)).toBe("invalid_request: The body must be a JSON object.");
  expect(await refusal(`{"a":${uri},"b":"\\ud800"}`)).toBe(
    "invalid_request: b contains half of a surrogate pair.",
  );
  expect(await refusal(Buffer.from(`{"a":${uri},"b":"\xff"}`, "latin1"))).toBe(
    "invalid_request: The body is not valid UTF-8.",
  );
  expect(await refusal(`{"a":${uri},"b":${"[".repeat(40)}`)).toBe(
    "invalid_request: The body is nested deeper than 32 levels.",
  );
});
