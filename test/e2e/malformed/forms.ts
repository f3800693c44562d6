import { gzipSync } from "node:zlib";
import { leftHalfMask, plainImage } from "../support/pictures.ts";
import { BOUNDARY, formBody, formRequest, multipartType, type Part } from "./form.ts";
import { among, type Malformed, TOO_LARGE, WRONG_TYPE } from "./request.ts";

const MODEL: Part = { name: "model", content: "sandbox-image" };
const PROMPT: Part = { name: "prompt", content: "x" };
const DISPOSITION = 'Content-Disposition: form-data; name="user"';

/** Forms for the edits of the synchronous images API: the form itself, the headers of its parts, its fields, its files. */
export async function malformedForms(): Promise<Malformed[]> {
  const image: Part = { name: "image", filename: "a.png", content: await plainImage(16, 16) };
  const good = [MODEL, PROMPT, image];
  return among({ path: "/compat/v1/images/edits", envelope: "compatible" }, [
    ...boundaries(good),
    ...cutShort(good),
    ...partHeaders(good),
    ...fields(image),
    ...files(image),
    ...(await masks(image)),
  ]);
}

function boundaries(good: readonly Part[]): Malformed[] {
  const body = formBody(good);
  const type = (name: string, value: string, says: string | RegExp = /boundary/i): Malformed => ({
    name,
    body,
    headers: [["Content-Type", value]],
    says,
  });
  const long = "Z".repeat(71);
  return [
    type("no boundary", "multipart/form-data"),
    type("an empty boundary", "multipart/form-data; boundary="),
    type("an empty boundary in quotes", 'multipart/form-data; boundary=""'),
    type("two boundaries", `multipart/form-data; boundary=${BOUNDARY}; boundary=other`),
    type("the same boundary twice", `multipart/form-data; boundary=${BOUNDARY}; Boundary=${BOUNDARY}`),
    type("a boundary that ends with a space", 'multipart/form-data; boundary="ab "'),
    type("a boundary with @", "multipart/form-data; boundary=a@b"),
    type("a boundary with ü", "multipart/form-data; boundary=\xfc"),
    type("a boundary with a quote that never ends", 'multipart/form-data; boundary="ab'),
    type("a boundary that is not in the body", "multipart/form-data; boundary=other", "boundary"),
    {
      name: "a boundary of 71 characters",
      body: formBody(good, long),
      headers: [multipartType(long)],
      says: "70",
    },
    { name: "a boundary of 5000 characters", body, headers: [multipartType("Z".repeat(5000))], says: "70" },
    {
      name: "multipart/mixed",
      body,
      headers: [["Content-Type", `multipart/mixed; boundary=${BOUNDARY}`]],
      ...WRONG_TYPE,
    },
    {
      name: "multipart/form-datax",
      body,
      headers: [["Content-Type", `multipart/form-datax; boundary=${BOUNDARY}`]],
      ...WRONG_TYPE,
    },
    { name: "no content type", body, without: ["content-type"], ...WRONG_TYPE },
    { name: "octets", body, headers: [["Content-Type", "application/octet-stream"]], ...WRONG_TYPE },
    {
      name: "a form that says it is JSON",
      body,
      headers: [["Content-Type", "application/json"]],
      says: /JSON|UTF-8/,
    },
    {
      name: "a form in gzip",
      body: gzipSync(body),
      headers: [multipartType(), ["Content-Encoding", "gzip"]],
      ...WRONG_TYPE,
    },
    {
      name: "JSON that says it is a form",
      body: '{"model":"sandbox-image"}',
      headers: [multipartType()],
      says: "boundary",
    },
    { name: "an empty form body", body: "", headers: [multipartType()], says: /empty|boundary/ },
    { name: "no body", method: "POST", headers: [multipartType()], says: /empty|boundary/ },
    { name: "a form without parts", body: `--${BOUNDARY}--\r\n`, headers: [multipartType()], param: "image" },
    {
      name: "20 KB before the first boundary",
      body: Buffer.concat([Buffer.alloc(20_000, 0x5a), body]),
      headers: [multipartType()],
      says: "boundary",
    },
    {
      name: "a body of 128 MB and a byte, by its own account",
      body: "x",
      headers: [multipartType(), ["Content-Length", String(128 * 1024 * 1024 + 1)]],
      ...TOO_LARGE,
    },
  ];
}

/** A body whose Content-Length is right and whose end is missing. */
function cutShort(good: readonly Part[]): Malformed[] {
  const whole = formBody(good);
  const last = whole.lastIndexOf(`--${BOUNDARY}--`);
  const cut = (name: string, bytes: number): Malformed => ({
    name: `a form that ends ${name}`,
    body: whole.subarray(0, bytes),
    headers: [multipartType()],
    says: /ends before|boundary/,
  });
  return [
    cut("in its first boundary", 10),
    cut("in the header of its first part", BOUNDARY.length + 20),
    cut("before a value", whole.indexOf("sandbox-image")),
    cut("in the middle of a file", last - 20),
    cut("before its last boundary", last),
    cut("in its last boundary", last + 10),
    cut("before the dashes of its last boundary", last + 2 + BOUNDARY.length),
    cut("between the dashes of its last boundary", last + 3 + BOUNDARY.length),
  ];
}

function partHeaders(good: readonly Part[]): Malformed[] {
  const part = (
    name: string,
    header: string,
    says: string | RegExp,
    code: Partial<Malformed> = {},
  ): Malformed => ({
    name: `a part with ${name}`,
    ...formRequest([...good, { header, content: "x" }]),
    says,
    ...code,
  });
  return [
    part("no header", "", "Part 4"),
    part("another header alone", "Content-Type: text/plain", "Content-Disposition"),
    part("no name", "Content-Disposition: form-data", "name"),
    part("an empty name", 'Content-Disposition: form-data; name=""', "name"),
    part("a file name and no name", 'Content-Disposition: form-data; filename="a.png"', "name"),
    part("its name given twice", 'Content-Disposition: form-data; name="a"; name="b"', "Content-Disposition"),
    part("its disposition given twice", `${DISPOSITION}\r\n${DISPOSITION}`, "twice"),
    part("another disposition", 'Content-Disposition: attachment; name="a"', "form-data"),
    part("a quote that never ends", 'Content-Disposition: form-data; name="a', "Content-Disposition"),
    part("a line that is no header", `${DISPOSITION}\r\nnonsense`, "header"),
    part("a folded line", `${DISPOSITION}\r\n ; filename="x"`, "header"),
    part("a NUL in its header", `${DISPOSITION}\0`, "header"),
    part("a CR in its header", `${DISPOSITION}\rX: y`, "header"),
    part("an LF in its header", `${DISPOSITION}\nX: y`, "header"),
    part("a name that is not UTF-8", 'Content-Disposition: form-data; name="\xff\xfe"', "UTF-8"),
    part("a header of 17 KB", `${DISPOSITION}\r\nX-Long: ${"Z".repeat(17_000)}`, "bytes"),
    part("base64", `${DISPOSITION}\r\nContent-Transfer-Encoding: base64`, "base64", WRONG_TYPE),
    part(
      "quoted-printable",
      `${DISPOSITION}\r\nContent-Transfer-Encoding: quoted-printable`,
      "quoted-printable",
      WRONG_TYPE,
    ),
    part(
      "an unknown encoding of 500 characters",
      `${DISPOSITION}\r\nContent-Transfer-Encoding: ${"Z".repeat(500)}`,
      "Part 4",
      WRONG_TYPE,
    ),
    part(
      "a form inside it",
      `${DISPOSITION}\r\nContent-Type: multipart/mixed; boundary=b`,
      "form",
      WRONG_TYPE,
    ),
    part("charset utf-16", `${DISPOSITION}\r\nContent-Type: text/plain; charset=utf-16`, "UTF-8", WRONG_TYPE),
  ];
}

function fields(image: Part): Malformed[] {
  const form = (
    name: string,
    parts: readonly Part[],
    param: string,
    more: Partial<Malformed> = {},
  ): Malformed => ({
    name,
    ...formRequest([...parts, image]),
    param,
    ...more,
  });
  const field = (name: string, content: string | Uint8Array, more: Partial<Malformed> = {}) =>
    form(
      `${name} = ${JSON.stringify(String(content).slice(0, 20))}`,
      [MODEL, PROMPT, { name, content }],
      name,
      more,
    );
  const many = Array.from({ length: 101 }, (): Part => ({ name: "extra", content: "x" }));
  return [
    form("no model", [PROMPT], "model"),
    form("no prompt", [MODEL], "prompt"),
    form("an empty model", [{ name: "model", content: "" }, PROMPT], "model"),
    form("an empty prompt", [MODEL, { name: "prompt", content: "" }], "prompt"),
    form("an unknown model", [{ name: "model", content: "nothing" }, PROMPT], "model", {
      status: 404,
      code: "model_not_found",
    }),
    form("a prompt of 4001 emoji", [MODEL, { name: "prompt", content: "😀".repeat(4001) }], "prompt", {
      says: "4001",
    }),
    form("a prompt that is not UTF-8", [MODEL, { name: "prompt", content: Buffer.from([0xff]) }], "prompt", {
      says: "UTF-8",
    }),
    form("a prompt with NUL", [MODEL, { name: "prompt", content: "a\0b" }], "prompt", { says: "NUL" }),
    form("a prompt given twice", [MODEL, PROMPT, PROMPT], "prompt", { says: "twice" }),
    form("a model given twice", [MODEL, MODEL, PROMPT], "model", { says: "twice" }),
    form("__proto__ and no prompt", [MODEL, { name: "__proto__", content: '{"prompt":"x"}' }], "prompt"),
    form("101 fields", [MODEL, PROMPT, ...many], "extra", { says: "fields" }),
    ...["0", "11", "1.5", "two", "-1", "1e1", "0x2", "true", " 1", "1000000000"].map((n) => field("n", n)),
    ...["0x0", "1e3x1", "99999x99999", "64"].map((size) => field("size", size)),
    field("response_format", "base64"),
    field("output_format", "gif"),
    field("background", "transparent"),
    field("stream", "1"),
    field("seed", "-1"),
    field("seed", "1e3"),
    field("sandbox", "{"),
    field("sandbox", "7"),
    field("sandbox", '{"delay_ms":"0"}', { param: "sandbox.delay_ms" }),
    field("image", "hello", { param: "image[1]" }),
    field("image[]", "file:///etc/passwd", { param: "image[1]" }),
  ];
}

function files(image: Part): Malformed[] {
  const form = (
    name: string,
    parts: readonly Part[],
    param: string | undefined,
    more: Partial<Malformed> = {},
  ): Malformed => ({
    name,
    ...formRequest([MODEL, PROMPT, ...parts]),
    ...(param === undefined ? {} : { param }),
    ...more,
  });
  const stranger: Part = { name: "attachment", filename: "a", content: "x" };
  return [
    form("no image", [], "image"),
    form("an image without a file name", [{ name: "image", content: image.content }], "image", {
      says: "file name",
    }),
    form("a file in the place of the prompt", [{ name: "image2", filename: "a", content: "x" }], "image"),
    form(
      "11 files",
      Array.from({ length: 11 }, () => image),
      "image",
      { says: "10" },
    ),
    form(
      "11 files in image[]",
      Array.from({ length: 11 }, () => ({ ...image, name: "image[]" })),
      "image",
      { says: "10" },
    ),
    form(
      "10 files and an address",
      [...Array.from({ length: 10 }, () => image), { name: "image", content: "https://example.com/a.png" }],
      "image",
      { says: "10" },
    ),
    form(
      "17 files that mean nothing",
      Array.from({ length: 17 }, () => stranger),
      "attachment",
      { says: "16" },
    ),
    form(
      "an image of 10 MB and a byte",
      [{ ...image, content: Buffer.alloc(10 * 1024 * 1024 + 1, image.content as Uint8Array) }],
      "image[0]",
      { says: "10 MB" },
    ),
    form("a bad image behind a good one", [image, { ...image, content: "hello" }], "image[1]"),
  ];
}

async function masks(image: Part): Promise<Malformed[]> {
  const mask = (name: string, content: Uint8Array | string, says: string): Malformed => ({
    name: `a mask ${name}`,
    ...formRequest([MODEL, PROMPT, image, { name: "mask", filename: "m.png", content }]),
    param: "mask",
    says,
  });
  const good = await leftHalfMask(16, 16);
  const part: Part = { name: "mask", filename: "m.png", content: good };
  return [
    mask("in JPEG", await plainImage(16, 16, { format: "jpeg" }), "PNG"),
    mask("in WebP", await plainImage(16, 16, { format: "webp" }), "PNG"),
    mask("without transparency", await plainImage(16, 16), "transparent"),
    mask("of another size", await leftHalfMask(16, 15), "16x16"),
    mask("cut short", good.subarray(0, good.length - 20), "mask"),
    mask("of nothing", "", "empty"),
    mask("of text", "hello", "PNG"),
    { name: "two masks", ...formRequest([MODEL, PROMPT, image, part, part]), param: "mask", says: "twice" },
    { name: "a mask without an image", ...formRequest([MODEL, PROMPT, part]), param: "image" },
    {
      name: "a mask without a file name",
      ...formRequest([MODEL, PROMPT, image, { name: "mask", content: good }]),
      param: "mask",
      says: "file name",
    },
  ];
}
