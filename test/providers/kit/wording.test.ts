import { describe, expect, test } from "bun:test";
import type { AttemptId, ModelId, TaskId } from "../../../src/domain/ids.ts";
import type { Json } from "../../../src/domain/json.ts";
import type { Wording } from "../../../src/domain/model/wording.ts";
import { type InputFile, ProviderError, type SubmitRequest } from "../../../src/domain/ports/provider.ts";
import type { InputRole } from "../../../src/domain/task/request.ts";
import { wordRequest } from "../../../src/providers/kit/wording.ts";
import { inputFile } from "../sandbox/harness.ts";

interface Asked {
  readonly prompt?: string;
  readonly n?: number;
  readonly mode?: string;
  readonly parameters?: { readonly [name: string]: Json };
  readonly inputs?: readonly InputFile[];
}

function submission(wording: Wording | undefined, asked: Asked): SubmitRequest {
  const { prompt, n = 1, mode = "draw", parameters = {}, inputs = [] } = asked;
  return {
    attempt: "att_1" as AttemptId,
    taskId: "task_1" as TaskId,
    upstreamModel: "maker/model",
    wording,
    request: { kind: "image", model: "any" as ModelId, mode, prompt, n, parameters, inputs: [] },
    inputs,
  };
}

const fieldsOf = (wording: Wording | undefined, asked: Asked) =>
  wordRequest(submission(wording, asked)).fields;
const file = (role: InputRole, text: string = role) => inputFile(role, new TextEncoder().encode(text));

describe("a request", () => {
  test("keeps its own words without a wording", () => {
    const parameters = { seed: 7, size: { width: 1 } };
    expect(wordRequest(submission(undefined, { prompt: "A fox", parameters }))).toEqual({
      endpoint: "maker/model",
      fields: { prompt: "A fox", ...parameters },
      inputs: [],
    });
  });

  test("has no prompt where none was given, and the upstream's name for the one that was", () => {
    expect(fieldsOf({ prompt: "text" }, {})).toEqual({});
    expect(fieldsOf({ prompt: "text" }, { prompt: "" })).toEqual({ text: "" });
  });

  test("says how many, also when it is one", () => {
    expect(fieldsOf({ count: "num" }, {})).toEqual({ num: 1 });
    expect(fieldsOf({ count: "num" }, { n: 4 })).toEqual({ num: 4 });
  });

  test.each([0, false, "", null])("keeps %j, under its own name and another", (value) => {
    const parameters = { strength: value };
    expect(fieldsOf({}, { parameters })).toEqual({ strength: value });
    expect(fieldsOf({ parameters: { strength: { field: "force" } } }, { parameters })).toEqual({
      force: value,
    });
  });

  test.each([
    [0, "0s"],
    [false, "falses"],
    ["", "s"],
    ["$&", "$&s"],
  ])("has %j in a template as it is", (value, text) => {
    const wording = { parameters: { duration: { template: "${value}s" } } };
    expect(fieldsOf(wording, { parameters: { duration: value } })).toEqual({ duration: text });
  });

  test.each([
    [0, false],
    [false, 0],
    ["", null],
    ["1:1", { width: 1024, height: 1024 }],
  ])("has what a table says for %j", (value, worded) => {
    const values = { "0": false, false: 0, "": null, "1:1": { width: 1024, height: 1024 } };
    const wording = { parameters: { shape: { field: "image_size", values } } };
    expect(fieldsOf(wording, { parameters: { shape: value } })).toEqual({ image_size: worded });
  });

  test("has several fields for a value whose wording spreads it, and none of them twice", () => {
    const values = { "64x32": { shape: "custom", width: 64, height: 32 } };
    const wording = { parameters: { size: { spread: true, values } } } as const;
    const asked = { parameters: { size: "64x32" } };
    expect(fieldsOf(wording, asked)).toEqual(values["64x32"]);
    expect(fieldsOf(wording, {})).toEqual({});
    expect(() => fieldsOf({ ...wording, constants: { width: 1 } }, asked)).toThrow(ProviderError);
  });

  test("has the constants of the route", () => {
    expect(fieldsOf({ constants: { sync: false, depth: 0 } }, { prompt: "A" })).toEqual({
      ...{ sync: false, depth: 0 },
      prompt: "A",
    });
  });

  test.each([
    ["draw", "other/endpoint"],
    ["edit", "maker/model/edit"],
  ])("to %s goes to %s", (mode, endpoint) => {
    const endpoints = { draw: "other/endpoint", edit: "/edit" };
    expect(wordRequest(submission({ endpoints }, { mode })).endpoint).toBe(endpoint);
  });

  test("has its inputs in their fields, one by itself or all in a list", () => {
    const [a, b, mask] = [file("image", "a"), file("image", "b"), file("mask")];
    const wording = {
      inputs: { image: { field: "images", isList: true }, mask: { field: "mask", isList: false } },
    };
    expect(wordRequest(submission(wording, { inputs: [a, mask, b] })).inputs).toEqual([
      { field: "images", isList: true, files: [a, b] },
      { field: "mask", isList: false, files: [mask] },
    ]);
  });
});

const TABLE = { parameters: { ratio: { values: { "1:1": "square" } } } };
test.each([
  ["more outputs than one at a time", {}, { n: 2 }],
  ["a value that its table lacks", TABLE, { parameters: { ratio: "7:1" } }],
  ["a value that only the table's prototype has", TABLE, { parameters: { ratio: "toString" } }],
  ["an object where a table is", TABLE, { parameters: { ratio: {} } }],
  ["an object in a template", { parameters: { x: { template: "${value}" } } }, { parameters: { x: [1] } }],
  ["a mode without an endpoint", { endpoints: { draw: "a" } }, { mode: "edit" }],
  ["an input of a role that is not taken", {}, { inputs: [file("image")] }],
  [
    "two inputs where one is taken",
    { inputs: { image: { field: "image", isList: false } } },
    { inputs: [file("image", "a"), file("image", "b")] },
  ],
  ["two values for one field", { parameters: { a: { field: "b" } } }, { parameters: { a: 1, b: 2 } }],
  [
    "an input in the field of a parameter",
    { inputs: { image: { field: "x", isList: false } } },
    { parameters: { x: 1 }, inputs: [file("image")] },
  ],
] as [string, Wording, Asked][])("%s is left to another route", (_, wording, asked) => {
  const word = () => wordRequest(submission(wording, asked));
  expect(word).toThrow(ProviderError);
  expect(word).toThrow(expect.objectContaining({ disposition: "reroute", code: "NO_ROUTE_AVAILABLE" }));
});
