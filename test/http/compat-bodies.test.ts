import { describe, expect, test } from "bun:test";
import type { Json } from "../../src/domain/json.ts";
import { isImageField, readEdit, readForm, readGeneration } from "../../src/http/compat/read-request.ts";

const A = "https://example.com/a.png";
const B = "https://example.com/b.png";
const FILE = "file_6b5h6g5fqktts746e48b4fs0qx";

describe("what to edit", () => {
  test.each<[string, Json, readonly string[]]>([
    ["an address", A, [A]],
    ["addresses", [A, B], [A, B]],
    ["as OpenAI has it", [{ image_url: A }, { file_id: FILE }], [A, FILE]],
    ["as xAI has it", { type: "image_url", url: A }, [A]],
    ["as in chats", [{ type: "image_url", image_url: { url: A } }], [A]],
  ])("is %s in JSON, of an edit as of a generation", (_, image, images) => {
    expect(readEdit({ prompt: "x", image }).request.images).toEqual(images);
    expect(readGeneration({ prompt: "x", image }).request.images).toEqual(images);
  });

  test.each<[Json]>([[""], [[]], [null], [true], [[A, 1]], [{}]])(
    "is not %j in a generation, which ignores what it does not know",
    (image) => {
      expect(readGeneration({ prompt: "x", image }).request.images).toEqual([]);
    },
  );

  test("has a number in a form's field, as PHP writes lists, or none", () => {
    const names = ["image", "image[]", "image[0]", "image[12]", "images", "image[a]", "image[0][1]", "mask"];
    expect(names.filter(isImageField)).toEqual(["image", "image[]", "image[0]", "image[12]"]);
  });
});

test("a form's mask that was not filled in is none, and Python's words are true and false", () => {
  const form = (stream: string) =>
    readForm(
      [
        { name: "prompt", value: "x" },
        { name: "mask", value: "" },
        { name: "stream", value: stream },
      ],
      { images: ["upload: 0"], masks: [] },
    );
  expect(form("True")).toMatchObject({ isStream: true, request: { mask: undefined } });
  expect(form("False").isStream).toBe(false);
});
