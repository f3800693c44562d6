import { describe, expect, test } from "bun:test";
import { Failure } from "../../../cli/failure.ts";
import { parseInput, readInputs } from "../../../cli/flags/inputs.ts";
import { MODEL } from "../scripted-server.ts";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const FILES: Record<string, Uint8Array> = {
  "a.png": PNG,
  "prompt.txt": new TextEncoder().encode("a lighthouse\n"),
  "options.json": new TextEncoder().encode('{"a":1}\n'),
  "noise.bin": new Uint8Array([0xff, 0xfe, 0x00]),
};

async function read(...inputs: string[]) {
  return readInputs(inputs.map(parseInput), MODEL.schema, async (path) => FILES[path] ?? new Uint8Array());
}

describe("an input", () => {
  test.each([
    ["n=2", { n: 2 }],
    ["n=two", { n: "two" }],
    ["n=9007199254740993", { n: "9007199254740993" }],
    ["n=9007199254740992", { n: 9007199254740992 }],
    ["strength=-0.5", { strength: -0.5 }],
    ["strength=1e400", { strength: "1e400" }],
    ["strength=null", { strength: null }],
    ["upscale=true", { upscale: true }],
    ["upscale=yes", { upscale: "yes" }],
    ["resolution=512", { resolution: "512" }],
    ["prompt=5", { prompt: "5" }],
    ["prompt=", { prompt: "" }],
    ["prompt=a=b", { prompt: "a=b" }],
    ["prompt=line\nline", { prompt: "line\nline" }],
    ["unknown=5", { unknown: "5" }],
    ['options={"a":1}', { options: { a: 1 } }],
    ["image_urls=https://a", { image_urls: ["https://a"] }],
    ['image_urls=["https://a","https://b"]', { image_urls: ["https://a", "https://b"] }],
  ])("%p is read as the schema has it", async (text, expected) => {
    expect(await read(text)).toEqual(expected);
  });

  test("after := is exactly that JSON", async () => {
    expect(await read("n:=2.0", 'prompt:="@x"', "upscale:=null", "seed:=[1]")).toEqual({
      n: 2,
      prompt: "@x",
      upscale: null,
      seed: [1],
    });
    await expect(read("n:={")).rejects.toThrow("n is not valid JSON");
    await expect(read('seed:={"a":[9007199254740993]}')).rejects.toThrow(
      "seed: the number 9007199254740993 would be rounded.",
    );
  });

  test("after @ is a file: media as a data URI, anything else as its text", async () => {
    const uri = `data:image/png;base64,${PNG.toBase64()}`;
    expect(
      await read("image_url=@a.png", "image_urls=@a.png", "prompt=@prompt.txt", "options=@options.json"),
    ).toEqual({
      image_url: uri,
      image_urls: [uri],
      prompt: "a lighthouse",
      options: { a: 1 },
    });
    expect(read("image_url=@noise.bin")).rejects.toThrow("neither text nor an image, video or recording");
  });

  test("given again makes a list longer, and nothing else", async () => {
    expect(await read("image_urls=a", "image_urls=b")).toEqual({ image_urls: ["a", "b"] });
    expect(read("n=1", "n=2")).rejects.toThrow("n is given twice");
  });

  test("needs a name", () => {
    for (const wrong of ["", "x", "=x", ":=1", "a b=c"]) expect(() => parseInput(wrong)).toThrow(Failure);
  });
});
