import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { bombPng, concat, insert, pngChunk, text } from "../helpers/media.ts";
import { startServer, stopServers } from "../helpers/server.ts";
import { formBody, formRequest, multipartType, type Part } from "./malformed/form.ts";
import { rawRequest, type Sent, type Target } from "./malformed/request.ts";
import { exchange, type WireAnswer } from "./malformed/wire.ts";
import { dataUri, leftHalfMask, plainImage } from "./support/pictures.ts";

setDefaultTimeout(120_000);

const server = await startServer();
const target: Target = { port: server.port, key: server.firstKey(), managementToken: "" };

afterAll(stopServers);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "1x1", sandbox: { delay_ms: 0 } } as const;
const CREATE = "/v1/images/generations";
const GENERATE = "/compat/v1/images/generations";
const EDIT = "/compat/v1/images/edits";
const SMALL: readonly Part[] = [
  { name: "model", content: "sandbox-image" },
  { name: "prompt", content: "x" },
  { name: "size", content: "1x1" },
  { name: "sandbox", content: '{"delay_ms":0}' },
];
/** No media file has this text by chance. */
const MARKER = "<script>marker-of-a-test</script>";
const MAX_FILE_BYTES = 10 * 1024 * 1024;

const png = await plainImage(16, 16);
const jpeg = await plainImage(16, 16, { format: "jpeg" });
const mask = await leftHalfMask(16, 16);
const image: Part = { name: "image", filename: "a.png", content: png };

async function send(sent: Sent): Promise<WireAnswer> {
  const answer = await exchange(server.port, rawRequest(target, sent));
  if (answer === "closed") throw new Error("The connection was closed without an answer.");
  return answer;
}

describe("what is just inside the limits is taken:", () => {
  test.each<[string, Sent]>([
    ["a prompt of one character", { path: CREATE, body: { ...IMAGE, prompt: "x" } }],
    ["a prompt of 4000 characters", { path: CREATE, body: { ...IMAGE, prompt: "é".repeat(4000) } }],
    ["a prompt of 4000 emoji", { path: CREATE, body: { ...IMAGE, prompt: "😀".repeat(4000) } }],
    ["a prompt of 4000 emoji, at once", { path: GENERATE, body: { ...IMAGE, prompt: "😀".repeat(4000) } }],
    ["one image", { path: CREATE, body: { ...IMAGE, n: 1 } }],
    ["ten images", { path: CREATE, body: { ...IMAGE, n: 10 } }],
    ["ten images, at once", { path: GENERATE, body: { ...IMAGE, n: 10 } }],
    [
      "an integer written as 1.0e0",
      { path: CREATE, body: '{"model":"sandbox-image","prompt":"x","size":"1x1","n":1.0e0}' },
    ],
    [
      "null for what is absent, at once",
      { path: GENERATE, body: { ...IMAGE, n: null, quality: null, user: null } },
    ],
    [
      "unknown fields, at once",
      { path: GENERATE, body: { ...IMAGE, nope: 1, constructor: {}, toString: 7 } },
    ],
    [
      "32 levels in an unknown field, at once",
      {
        path: GENERATE,
        body: `{"model":"sandbox-image","prompt":"x","size":"1x1","nope":${"[".repeat(31)}${"]".repeat(31)}}`,
      },
    ],
    [
      "a charset in quotes",
      { path: CREATE, body: IMAGE, headers: [["Content-Type", 'Application/JSON ; charset="UTF-8"']] },
    ],
    ["the identity encoding", { path: CREATE, body: IMAGE, headers: [["Content-Encoding", "identity"]] }],
    [
      "an idempotency key of 255 characters",
      { path: CREATE, body: IMAGE, headers: [["Idempotency-Key", "~".repeat(255)]] },
    ],
    [
      "a body in chunks",
      {
        path: CREATE,
        without: ["content-length"],
        headers: [["Transfer-Encoding", "chunked"]],
        body: chunksOf(JSON.stringify(IMAGE)),
      },
    ],
    ["slashes given twice, at once", { path: "//compat//v1/images/generations", body: IMAGE }],
    [
      "ten data URIs",
      { path: CREATE, body: { ...IMAGE, image_urls: Array.from({ length: 10 }, () => dataUri(png)) } },
    ],
    [
      "a data URI without padding",
      { path: CREATE, body: { ...IMAGE, image_url: dataUri(png).replace(/=+$/, "") } },
    ],
    [
      "a data URI of the wrong type",
      { path: CREATE, body: { ...IMAGE, image_url: dataUri(png, "text/html") } },
    ],
    ["ten files", { path: EDIT, ...formRequest([...SMALL, ...Array.from({ length: 10 }, () => image)]) }],
    [
      "a file of 10 MB",
      { path: EDIT, ...formRequest([...SMALL, { ...image, content: paddedTo(MAX_FILE_BYTES) }]) },
    ],
    ["25 million pixels", { path: CREATE, body: { ...IMAGE, image_url: dataUri(bombPng(5000, 5000)) } }],
    [
      "a mask",
      { path: EDIT, ...formRequest([...SMALL, image, { name: "mask", filename: "m", content: mask }]) },
    ],
    [
      "a file that calls itself something else",
      { path: EDIT, ...formRequest([...SMALL, { ...image, filename: "../../x.php" }]) },
    ],
    [
      "an empty field that may be left out",
      { path: EDIT, ...formRequest([...SMALL, image, { name: "n", content: "" }]) },
    ],
    [
      "a boundary of 70 characters",
      {
        path: EDIT,
        headers: [multipartType("B".repeat(70))],
        body: formBody([...SMALL, image], "B".repeat(70)),
      },
    ],
    [
      "something before and behind a form",
      {
        path: EDIT,
        headers: [multipartType()],
        body: concat(text("before\r\n"), formBody([...SMALL, image]), text("behind")),
      },
    ],
  ])("%s", async (_, sent) => {
    const answer = await send(sent);
    expect(answer.body).toMatch(/"task_id":"task_|"b64_json":"/);
    expect(answer.status).toBe(200);
  });
});

describe("a picture is stored without", () => {
  test.each<[string, Uint8Array]>([
    ["HTML behind a PNG", concat(png, text(MARKER))],
    ["HTML behind a JPEG", concat(jpeg, text(MARKER))],
    ["a ZIP behind a JPEG", concat(jpeg, text(`PK\x03\x04${MARKER}`))],
    ["HTML in a PNG's comment", insert(png, 33, pngChunk("tEXt", text(`Comment\0${MARKER}`)))],
    ["HTML in a JPEG's comment", insert(jpeg, 2, segment(0xfe, text(MARKER)))],
    [
      "40 MB of text in a PNG",
      insert(png, 33, pngChunk("zTXt", concat(text("c\0\0"), deflateSync(Buffer.alloc(40_000_000))))),
    ],
    ["EXIF that says it has 65535 entries", insert(jpeg, 2, exif(0xffff, 8))],
    ["EXIF whose next part is itself", insert(jpeg, 2, exif(0, 8))],
    ["EXIF that points behind the file", insert(jpeg, 2, exif(1, 0xfffffff0))],
    ["200 segments of EXIF", insert(jpeg, 2, ...Array.from({ length: 200 }, () => exif(1, 8)))],
  ])("%s", async (_, bytes) => {
    const known = new Set(storedFiles());
    const answer = await send({
      path: EDIT,
      ...formRequest([...SMALL, { name: "image", filename: "a", content: bytes }]),
    });
    expect(answer.status).toBe(200);
    for (const file of storedFiles().filter((each) => !known.has(each))) {
      const content = readFileSync(file);
      expect(content.length).toBeLessThan(100_000);
      expect(content.indexOf("marker-of-a-test")).toBe(-1);
      expect(content.indexOf("Exif")).toBe(-1);
    }
  });
});

test("what is taken leaves no temporary file", () => {
  expect(readdirSync(join(server.dataDir, "assets/tmp"))).toEqual([]);
});

test("a request id of 128 characters comes back as it is", async () => {
  const id = `${"a-B_c.9".repeat(18)}zz`;
  const answer = await send({ path: "/v1/models", headers: [["X-Request-ID", id]] });
  expect([id.length, answer.headers.get("x-request-id")]).toEqual([128, id]);
});

function storedFiles(): string[] {
  return readdirSync(join(server.dataDir, "assets"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function chunksOf(body: string): string {
  return `${[...body].map((character) => `1\r\n${character}\r\n`).join("")}0\r\n\r\n`;
}

/** A PNG of exactly so many bytes, most of them in a chunk that no decoder knows. */
function paddedTo(sizeBytes: number): Uint8Array {
  return insert(png, 33, pngChunk("teSt", new Uint8Array(sizeBytes - png.length - 12)));
}

/** A segment of a JPEG. */
function segment(marker: number, content: Uint8Array): Uint8Array {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return concat(head, content);
}

/** EXIF with one orientation entry, in a list that says it has `count`, and that says the next list is at `next`. */
function exif(count: number, next: number): Uint8Array {
  const tiff = Buffer.alloc(26);
  tiff.write("MM\0*", 0, "latin1");
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(count, 8);
  tiff.writeUInt16BE(0x0112, 10);
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(1, 18);
  tiff.writeUInt32BE(next, 22);
  return segment(0xe1, concat(text("Exif\0\0"), tiff));
}
