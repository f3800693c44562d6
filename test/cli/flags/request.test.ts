import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { requestProblem } from "../../../cli/flags/check-request.ts";
import { fileNameOf } from "../../../cli/flags/file-name.ts";
import { placeImages } from "../../../cli/flags/images.ts";
import { type RequestFlags, readRequest } from "../../../cli/flags/request.ts";
import { MODEL } from "../scripted-server.ts";
import { emptyFolder, fakeContext } from "../support.ts";

const CLOSED = { id: MODEL.id, schema: { ...MODEL.schema, additionalProperties: false } };

async function body(flags: RequestFlags, words?: string, files: Record<string, string> = {}) {
  const cwd = emptyFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const request = await readRequest(flags, fakeContext({ cwd }), words);
  return { request, body: await request.bodyFor(CLOSED) };
}

describe("a request", () => {
  test("has what its flags say, those with -i last", async () => {
    const flags = {
      model: "other",
      jsonInput: "@base.json",
      prompt: "a",
      outputs: "3",
      input: ["n=4", "upscale=true"],
      callbackUrl: "https://a.example/c",
    };
    const base = JSON.stringify({ prompt: "b", strength: 0.5, model: "base" });
    const { body: made, request } = await body(flags, undefined, { "base.json": base });
    expect(made).toEqual({
      ...{ strength: 0.5, prompt: "a", n: 4, callback_url: "https://a.example/c" },
      ...{ model: "image-1", upscale: true },
    });
    expect([request.model, request.prompt, request.count]).toEqual(["other", "a", 4]);
  });

  test("takes its model and prompt from --json-input where no flag names them", async () => {
    const base = JSON.stringify({ prompt: "b", model: "base", n: 2 });
    const { request } = await body({ jsonInput: "base.json" }, undefined, { "base.json": base });
    expect([request.model, request.prompt, request.count]).toEqual(["base", "b", 2]);
  });

  test("has the prompt of a file, whatever its length, and an argument as it is", async () => {
    const long = "é".repeat(32_000);
    expect((await body({ prompt: "@p.txt" }, undefined, { "p.txt": `${long}\n` })).body.prompt).toBe(long);
    expect((await body({}, "@alice in blue")).body.prompt).toBe("@alice in blue");
  });

  test.each([
    [{ prompt: "@absent.txt" }, undefined, "Cannot read absent.txt: there is no such file"],
    [{ prompt: "a" }, "b", "The prompt is given twice"],
    [{ prompt: "-", input: ["image_url=@-"] }, undefined, "Standard input can be read once"],
    [{ jsonInput: "list.json" }, undefined, "--json-input list.json must be a JSON object"],
    [{ jsonInput: "broken.json" }, undefined, "--json-input broken.json is not valid JSON: line 1, column "],
    [{ outputs: "many" }, undefined, '--outputs must be a whole number from 1, got "many"'],
  ])("%p with the argument %p is refused", async (flags, words, message) => {
    const files = { "list.json": "[]", "broken.json": "{" };
    expect(body(flags, words, files)).rejects.toThrow(message);
  });
});

describe("checked against the model's schema", () => {
  test.each([
    [{ prompt: "a" }, undefined],
    [{ prompt: "a", outputs: "99" }, "--outputs must be 1 to 10; got 99."],
    [{ prompt: "a", input: ["n=two"] }, '-i n must be an integer; got "two".'],
    [{ prompt: "a", input: ["resolution=4K"] }, '-i resolution must be one of "512", "1K"; got "4K".'],
    [
      { prompt: "a", input: ["resolutoin=1K"] },
      'Unknown field "-i resolutoin". Did you mean "-i resolution"?',
    ],
    [{ input: ["promt=a"] }, 'Unknown field "-i promt". Did you mean "--prompt"?'],
    [{}, "--prompt is required by image-1."],
  ])("%p: %p", async (flags, message) => {
    const { request, body: made } = await body(flags);
    expect(requestProblem(CLOSED, made, request.nameOf)?.message).toBe(message);
  });

  test("a schema that cannot be read refuses nothing", () => {
    const schema = { type: "object", properties: { n: { type: "integer", newKeyword: true } } };
    expect(requestProblem({ id: "a", schema }, { n: "two" }, String)).toBeUndefined();
  });
});

describe("images to edit", () => {
  const model = (fields: Record<string, object>, inputs: [field: string, role: string][]) => ({
    ...({ id: "m", kind: "image", modes: [], isAvailable: true, schema: { properties: fields } } as const),
    inputs: inputs.map(([field, role]) => ({ field, role, media: "image" })),
  });
  const single = model({ image_url: {} }, [["image_url", "image"]]);
  const both = model({ image_url: {}, image_urls: { type: "array" } }, [
    ["image_url", "image"],
    ["image_urls", "image"],
    ["mask_url", "mask"],
  ]);

  test("go into the field that takes so many, and a mask into its own", () => {
    expect(placeImages(both, ["a"], undefined)).toEqual({ image_url: "a" });
    expect(placeImages(both, ["a", "b"], "m")).toEqual({ image_urls: ["a", "b"], mask_url: "m" });
    expect(() => placeImages(single, ["a", "b"], undefined)).toThrow("m takes one image, and there are 2.");
    expect(() => placeImages(single, ["a"], "m")).toThrow("m takes no --mask.");
    expect(() => placeImages(model({}, []), ["a"], undefined)).toThrow("m takes no image.");
  });
});

test.each([
  ["A lighthouse, at dusk!", "a-lighthouse-at-dusk"],
  ["../../etc/passwd", "etc-passwd"],
  ["Ein Leuchtturm über 海", "ein-leuchtturm-über-海"],
  ["\u001b[31m", "31m"],
  ["🎨", undefined],
  ["con", undefined],
  [`${"word ".repeat(40)}`, "word-word-word-word-word-word-word-word-word"],
  ["x".repeat(500), "x".repeat(48)],
])("the file of %p is called %p", (prompt, name) => {
  expect(fileNameOf(prompt)).toBe(name);
});
