import { describe, expect, test } from "bun:test";
import type { ModelId, ProviderId } from "../../../src/domain/ids.ts";
import { canTake } from "../../../src/domain/model/eligibility.ts";
import type { Model, Route } from "../../../src/domain/model/model.ts";
import { unrouted } from "../../../src/domain/model/unrouted.ts";
import type { GenerationRequest, InputRole, MediaInput } from "../../../src/domain/task/request.ts";
import { describe as describeFacts, fieldOf } from "../../../src/domain/words/words.ts";
import { MODEL } from "../../helpers/engine.ts";

const route = (over: Partial<Route> = {}): Route => ({
  provider: "p" as ProviderId,
  upstreamModel: "u",
  ...over,
});
const request = (over: Partial<GenerationRequest> = {}): GenerationRequest => ({
  kind: "image",
  model: "m" as ModelId,
  mode: "draw",
  prompt: "A fox",
  n: 1,
  parameters: {},
  inputs: [],
  ...over,
});
const input = (role: InputRole, param: string): MediaInput => ({
  role,
  param,
  source: { kind: "url", url: "x:" },
});
const two = [input("image", "image_urls[0]"), input("image", "image_urls[1]")];

test.each<[taken: boolean, Partial<Route>, Partial<GenerationRequest>]>([
  [true, {}, { n: 4, parameters: { size: "L" }, inputs: two }],
  [true, { modes: ["draw"] }, {}],
  [false, { modes: ["edit"] }, {}],
  [false, { wording: { endpoints: { edit: "/e" } } }, {}],
  [false, { wording: { endpoints: { edit: "/e" } } }, { mode: "toString" }],

  [true, { only: { size: { enum: ["S"] } } }, {}],
  [true, { only: { size: { enum: ["S"] } } }, { parameters: { size: "S" } }],
  [false, { only: { size: { enum: ["S"] } } }, { parameters: { size: "L" } }],
  [false, { only: { sound: { enum: [false] } } }, { parameters: { sound: true } }],
  [true, { only: { size: false } }, {}],
  [false, { only: { size: false } }, { parameters: { size: "" } }],
  [true, { only: { seconds: { minimum: 3, maximum: 5 } } }, { parameters: { seconds: 5 } }],
  [false, { only: { seconds: { minimum: 3 } } }, { parameters: { seconds: 2 } }],
  [false, { only: { seconds: { maximum: 5 } } }, { parameters: { seconds: 6 } }],
  [true, { only: { prompt: { maximum: 5 } } }, { prompt: "🦊🦊🦊🦊🦊" }],
  [false, { only: { prompt: { maximum: 4 } } }, {}],
  [false, { only: { colours: { maximum: 1 } } }, { parameters: { colours: ["a", "b"] } }],
  [true, { only: { n: false } }, {}],
  [false, { only: { n: false } }, { n: 2 }],
  [false, { only: { n: { maximum: 2 } } }, { n: 3 }],

  [true, { wording: {} }, { parameters: { size: "L" } }],
  [false, { wording: {} }, { n: 2 }],
  [true, { wording: { count: "number" } }, { n: 2 }],
  [true, { wording: { parameters: { size: { values: { L: "large" } } } } }, { parameters: { size: "L" } }],
  [false, { wording: { parameters: { size: { values: { L: "large" } } } } }, { parameters: { size: "S" } }],
  [
    false,
    { wording: { parameters: { size: { values: { L: "large" } } } } },
    { parameters: { size: "toString" } },
  ],
  [false, { wording: { parameters: { size: { template: "${value}x" } } } }, { parameters: { size: ["S"] } }],

  [false, { wording: {} }, { inputs: [input("image", "image_url")] }],
  [
    true,
    { wording: { inputs: { image: { field: "i", isList: false } } } },
    { inputs: [input("image", "image_url")] },
  ],
  [false, { wording: { inputs: { image: { field: "i", isList: false } } } }, { inputs: two }],
  [true, { wording: { inputs: { image: { field: "i", isList: true } } } }, { inputs: two }],
  [false, { only: { image_urls: false } }, { inputs: two }],
  [false, { only: { image_urls: { maximum: 1 } } }, { inputs: two }],
  [true, { only: { image_urls: { maximum: 2 } } }, { inputs: two }],
])("taken %p: by %j of %j", (taken, limits, asked) => {
  expect(canTake(route(limits), request(asked))).toBe(taken);
});

describe("a request that none of the routes can do", () => {
  const model: Model = {
    ...MODEL,
    id: "m" as ModelId,
    modes: [
      { id: "draw", requires: [] },
      { id: "edit", requires: ["image"] },
      { id: "mend", requires: ["image", "mask"] },
    ],
    mediaFields: [
      { name: "image_urls", role: "image", media: "image" },
      { name: "mask_url", role: "mask", media: "image" },
    ],
    schema: {
      properties: {
        size: { enum: ["S", "M", "L"] },
        sound: { type: "boolean" },
        seconds: { type: "integer" },
        style: { type: "string" },
      },
    },
  };
  const told = (routes: Partial<Route>[], asked: Partial<GenerationRequest>) => {
    const facts = unrouted(model, routes.map(route), request(asked));
    return [fieldOf(facts, (name) => name), describeFacts(facts, (name) => name)];
  };
  const size = (...values: string[]): Partial<Route> => ({ only: { size: { enum: values } } });
  const here = "for this request of m at present";

  test.each<[Partial<Route>[], Partial<GenerationRequest>, field: string | undefined, message: string]>([
    [
      [size("S"), size("M")],
      { parameters: { size: "L" } },
      "size",
      `size must be one of "S", "M" ${here}, got "L".`,
    ],
    [
      [{ only: { sound: { enum: [false] } } }],
      { parameters: { sound: true } },
      "sound",
      `sound must be false ${here}, got true.`,
    ],
    [[{ only: { size: false } }], { parameters: { size: "L" } }, "size", `size cannot be used ${here}.`],
    [
      [{ only: { seconds: { minimum: 2, maximum: 5 } } }, { only: { seconds: { maximum: 8 } } }],
      { parameters: { seconds: 9 } },
      "seconds",
      `seconds must be at most 8 ${here}, got 9.`,
    ],
    [
      [{ only: { style: { enum: ["a"] } } }],
      { parameters: { style: "b" } },
      "style",
      `style must be "a" ${here}, got "b".`,
    ],
    [
      [{ wording: { parameters: { style: { values: { a: 1 } } } } }],
      { parameters: { style: "b" } },
      "style",
      `style must be "a" ${here}, got "b".`,
    ],
    [
      [{ only: { prompt: { maximum: 3 } } }],
      {},
      "prompt",
      `prompt must have at most 3 characters ${here}, got 5.`,
    ],
    [[{ only: { n: { maximum: 2 } } }], { n: 3 }, "n", `n must be one of 1, 2 ${here}, got 3.`],
    [[{ wording: {} }, { only: { n: false } }], { n: 3 }, "n", `n must be 1 ${here}, got 3.`],
    [
      [{ only: { image_urls: { maximum: 1 } } }],
      { inputs: two },
      "image_urls",
      `image_urls must have at most 1 entries ${here}, got 2.`,
    ],
    [[{ wording: {} }], { inputs: two, mode: "edit" }, "image_urls", `image_urls cannot be used ${here}.`],
    [
      [{ modes: ["draw"] }],
      { inputs: two, mode: "edit" },
      "image_urls[0]",
      "These inputs make edit, which m does not do at present; it does draw (no input).",
    ],
    [
      [{ modes: ["edit"] }, { modes: ["mend"] }],
      {},
      "image_urls",
      "These inputs make draw, which m does not do at present; it does edit (image) or mend (image, mask).",
    ],
  ])("%j of %j names %s", (routes, asked, field, message) => {
    expect(told(routes, asked)).toEqual([field, message]);
  });

  test("names a field before the mode, which says what the caller wants", () => {
    const [field] = told([{ modes: ["edit"] }, size("S")], { parameters: { size: "L" } });
    expect(field).toBe("size");
  });

  test("names the field whose change suffices, not one of several in the way of another route", () => {
    const far = { modes: ["draw"], only: { size: false, sound: { enum: [false] } } } as const;
    expect(told([far, size("S"), far], { parameters: { size: "L", sound: true } })).toEqual([
      "size",
      `size must be "S" ${here}, got "L".`,
    ]);
  });
});
