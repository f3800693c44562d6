import { expect, test } from "bun:test";
import { isJsonObject } from "../../../src/domain/json.ts";
import { bytesOf, readJsonAnswer } from "../../../src/providers/kit/json-answer.ts";

const BYTES = Buffer.from(Array.from({ length: 60_000 }, (_, i) => (i < 99 ? 0xff : (i * 89) % 251)));

test.each([
  ["as it is written everywhere", BYTES.toString("base64")],
  ["in the alphabet of URLs, unpadded", BYTES.toString("base64url")],
  ["in lines", BYTES.toString("base64").replace(/.{76}/g, "$&\r\n")],
  ["in lines, in the alphabet of URLs", BYTES.toString("base64url").replace(/./g, "$&\n")],
  ["with a header", `data:image/png;base64,${BYTES.toString("base64")}`],
])("a long file in base64 %s is read to its last byte", async (_, text) => {
  async function* body() {
    const answer = Buffer.from(JSON.stringify({ file: text }));
    for (let at = 0; at < answer.length; at += 10_007) yield answer.subarray(at, at + 10_007);
  }
  const answer = await readJsonAnswer(body());
  const file = isJsonObject(answer.json) ? answer.json.file : undefined;
  expect(answer.files.size).toBe(1);
  expect(Buffer.from(bytesOf(answer, String(file))).equals(BYTES)).toBe(true);
});

test("integers that doubles do not hold are their digits, and all other numbers are numbers", async () => {
  async function* body() {
    yield Buffer.from('{"id": 7311234567890123457, "ids": [9007199254740993,1], "seed": 9007199254740991, ');
    yield Buffer.from('"big": 1e30, "long": 0.12345678901234567890, "text": "7311234567890123457"}');
  }
  expect((await readJsonAnswer(body())).json).toEqual({
    id: "7311234567890123457",
    ids: ["9007199254740993", 1],
    seed: 9007199254740991,
    big: 1e30,
    long: 0.12345678901234568,
    text: "7311234567890123457",
  });
});

test("numbers that are none, as Python writes them, are null, and words in texts stay", async () => {
  async function* body() {
    yield Buffer.from('{"is_changed": [NaN, -Infinity,Infinity], "id": 7311234567890123457, ');
    yield Buffer.from(String.raw`"NaN": "NaN, \"Infinity\": NaN", "deep": {"value": NaN}}`);
  }
  expect((await readJsonAnswer(body())).json).toEqual({
    is_changed: [null, null, null],
    id: "7311234567890123457",
    NaN: 'NaN, "Infinity": NaN',
    deep: { value: null },
  });
});

test.each(["NaNs", '{"a": NaNa}', "[Infinit]", "{NaN: 1}", '["NaN]'])("%s is no JSON", async (text) => {
  async function* body() {
    yield Buffer.from(text);
  }
  expect(await readJsonAnswer(body())).toMatchObject({ json: undefined, text });
});
