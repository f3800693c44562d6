import type { JsonObject } from "../../../src/domain/json.ts";
import { dataUri, plainImage } from "../support/pictures.ts";
import { among, type Malformed, TOO_LARGE, WRONG_TYPE } from "./request.ts";

const GOOD = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } } as const;
const NO_MODEL = { status: 404, code: "model_not_found", param: "model" } as const;

/** Bodies for the synchronous images API, which forgives what it can and refuses the rest in its own envelope. */
export async function malformedCompatBodies(): Promise<Malformed[]> {
  return [
    ...among({ path: "/compat/v1/images/generations", envelope: "compatible" }, [
      ...forms(),
      ...fields(),
      ...sizes(),
    ]),
    ...among({ path: "/compat/v1/images/edits", envelope: "compatible" }, await edits()),
    ...among({ path: "/compat/v1/videos", envelope: "compatible" }, videos()),
  ];
}

function videos(): Malformed[] {
  const good = { model: "sandbox-video", prompt: "x", seconds: "1", sandbox: { delay_ms: 0 } };
  const field = (name: string, value: JsonObject[string], param = name): Malformed => ({
    name: `${name} of a video = ${JSON.stringify(value)?.slice(0, 40)}`,
    body: { ...good, [name]: value },
    param,
  });
  return [
    { name: "half a video", body: '{"model":', says: "JSON" },
    { name: "a video as text/plain", body: good, headers: [["Content-Type", "text/plain"]], ...WRONG_TYPE },
    { name: "no prompt of a video", body: { model: "sandbox-video" }, param: "prompt" },
    ...["", "x", "0x1", "1x1x1", "1280X720", 720, true, []].map((size) => field("size", size)),
    ...["", "-1", "0", "1e9", "99999", 0, 11, true, {}].map((seconds) => field("seconds", seconds)),
    ...["", 7, [], {}, "ftp://x.example/a.png", "data:,x"].map((each) => field("input_reference", each)),
    field("input_reference", { image_url: 7 }),
    field("input_reference", { file_id: "file-1" }, "input_reference.file_id"),
    { ...field("model", "sandbox-image"), ...NO_MODEL },
    { ...field("model", "nothing"), ...NO_MODEL },
  ];
}

function forms(): Malformed[] {
  const headers = (type: string) => [["Content-Type", type]] as const;
  return [
    { name: "an empty body", body: "", says: "JSON" },
    { name: "a list", body: "[]", says: "object" },
    { name: "half an object", body: '{"model":', says: "JSON" },
    { name: "a field twice", body: '{"model":"sandbox-image","prompt":"a","prompt":"b"}', says: "twice" },
    { name: "bytes that are not UTF-8", body: Buffer.from('{"prompt":"\xe9"}', "latin1"), says: "UTF-8" },
    { name: "33 levels in a field that is ignored", body: `{"x":${"[".repeat(33)}`, says: "32" },
    { name: "NUL in a field that is ignored", body: '{"user":"a\\u0000"}', param: "user" },
    { name: "half a surrogate pair", body: '{"prompt":"\\ud83d"}', param: "prompt" },
    { name: "a megabyte of prompt", body: { ...GOOD, prompt: "Z".repeat(1_000_001) }, ...TOO_LARGE },
    { name: "text/plain", body: GOOD, headers: headers("text/plain"), ...WRONG_TYPE },
    { name: "a form", body: GOOD, headers: headers("multipart/form-data; boundary=x"), ...WRONG_TYPE },
    { name: "no content type", body: GOOD, without: ["content-type"], ...WRONG_TYPE },
    {
      name: "charset latin1",
      body: GOOD,
      headers: headers("application/json; charset=iso-8859-1"),
      ...WRONG_TYPE,
    },
    { name: "br", body: GOOD, headers: [["Content-Encoding", "br"]], ...WRONG_TYPE },
    {
      name: "response_format in the query",
      body: GOOD,
      path: "/compat/v1/images/generations?response_format=base64",
      param: "response_format",
    },
  ];
}

function fields(): Malformed[] {
  const field = (name: string, value: JsonObject[string], shown = JSON.stringify(value)): Malformed => ({
    name: `${name} = ${shown?.slice(0, 40)}`,
    body: { ...GOOD, [name]: value },
    param: name,
  });
  return [
    { name: "no model", body: { prompt: "x" }, param: "model" },
    field("model", null),
    field("model", 7),
    field("model", ""),
    { ...field("model", "nothing"), ...NO_MODEL },
    { ...field("model", "__proto__"), ...NO_MODEL },
    { ...field("model", "sandbox-video"), ...NO_MODEL, says: "/v1/videos/generations" },
    { ...field("model", "Z".repeat(200), "200 characters"), ...NO_MODEL },
    { name: "no prompt", body: { model: "sandbox-image" }, param: "prompt" },
    ...[null, 7, true, [], {}, ""].map((prompt) => field("prompt", prompt)),
    { ...field("prompt", "x".repeat(4001), "4001 characters"), says: "4001" },
    { ...field("prompt", "😀".repeat(4001), "4001 emoji"), says: "4001" },
    ...[0, 11, 1.5, "2", true, -1, 1e9, [], {}].map((n) => field("n", n)),
    ...["gif", "PNG", 7, [], true].map((format) => field("output_format", format)),
    ...["transparent", 7, {}, "Z".repeat(500)].map((background) => field("background", background)),
    ...[7, []].map((quality) => field("quality", quality)),
    ...["base64", "URL", 7, {}, "Z".repeat(500)].map((format) => field("response_format", format)),
    ...["true", 1, {}].map((stream) => field("stream", stream)),
    { ...field("sandbox", { nope: 1 }), param: "sandbox.nope" },
    field("seed", -1),
  ];
}

function sizes(): Malformed[] {
  const sizes = ["0x0", "1e3x1", "99999x99999", "64", "64×64", "x", "", "1024x", "-1x1", "NaNxNaN", "16x16 "];
  return [...sizes, 64, [], {}, true].map((size) => ({
    name: `size = ${JSON.stringify(size)}`,
    body: { ...GOOD, size },
    param: "size",
  }));
}

async function edits(): Promise<Malformed[]> {
  const png = dataUri(await plainImage(16, 16));
  const edit = (name: string, given: JsonObject, param: string, says?: string): Malformed => ({
    name,
    body: { ...GOOD, images: [{ image_url: png }], ...given },
    param,
    ...(says === undefined ? {} : { says }),
  });
  const bad = (param: string) =>
    edit(
      `${param} is SVG`,
      { images: [{ image_url: png }, { image_url: dataUri(Buffer.from("<svg/>")) }] },
      param,
    );
  return [
    edit("no images", { images: null }, "image"),
    edit("an empty list of images", { images: [] }, "images"),
    edit("an empty list as image", { images: null, image: [] }, "image"),
    edit("images as a text", { images: "hello" }, "images[0]"),
    edit("images as a number", { images: 7 }, "images[0]"),
    edit("an image that is null", { images: [null] }, "images[0]"),
    edit("an image without an address", { images: [{}] }, "images[0]"),
    edit("an image whose address is a number", { images: [{ image_url: 7 }] }, "images[0]"),
    edit("the id of a file", { images: [{ file_id: "file-1" }] }, "images[0]"),
    edit("11 images", { images: Array.from({ length: 11 }, () => ({ image_url: png })) }, "images"),
    bad("images[1]"),
    edit("a mask that is a number", { mask: 7 }, "mask"),
    edit("a mask that is no URL", { mask: "hello" }, "mask"),
    edit("a mask that is a list", { mask: [png] }, "mask"),
    edit("a prompt of nothing", { prompt: "" }, "prompt"),
    edit("n = 11", { n: 11 }, "n"),
    edit("a local file", { images: [{ image_url: "file:///etc/passwd" }] }, "images[0]"),
    edit("an address of this machine", { images: [{ image_url: "http://127.0.0.1/x.png" }] }, "images[0]"),
    {
      name: "a video model",
      body: { ...GOOD, model: "sandbox-video", images: [{ image_url: png }] },
      ...NO_MODEL,
    },
    {
      name: "JSON that says it is XML",
      body: GOOD,
      headers: [["Content-Type", "application/xml"]],
      ...WRONG_TYPE,
    },
  ];
}
