import { expect, test } from "bun:test";
import { createManifestReader, ManifestError } from "../../src/catalog/read-manifest.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { Model } from "../../src/domain/model/model.ts";

const manifest = (over: JsonObject = {}): JsonObject => ({
  id: "m",
  kind: "image",
  name: "M",
  description: "A model.",
  modes: [{ id: "edit", requires: ["image"] }],
  schema: {
    required: ["image_url"],
    properties: { image_url: { description: "An image." }, n: { type: "integer" } },
  },
  media: { image_url: { role: "image", media: "image" } },
  price: { version: "1", lines: [{ sku: "m", unit: "output", amount: "0.010000" }] },
  deadline_seconds: 120,
  routes: [{ provider: "sandbox", upstream_model: "picture" }],
  ...over,
});
const line = (over: JsonObject): JsonObject => ({
  version: "1",
  lines: [{ sku: "m", unit: "output", amount: "1", ...over }],
});

const reader = createManifestReader();
const read = (content: unknown): Model => reader.read("m.yaml", JSON.stringify(content)).model;

/** What is wrong with a manifest, a line for each problem. */
function problemsOf(text: string): string[] {
  try {
    reader.read("m.yaml", text);
  } catch (error) {
    if (error instanceof ManifestError) return error.message.split("\n");
    throw error;
  }
  return [];
}

test("a manifest becomes a model whose schema has what all models have in common", () => {
  const model = read(manifest({ shared: ["seed"] }));
  expect(model).toMatchObject({ id: "m", deadlineMs: 120_000, resultField: undefined });
  expect(model.price.lines).toEqual([{ sku: "m", unit: "output", unitMicros: 10_000 }] as never);
  expect(Object.keys(model.schema.properties as JsonObject)).toEqual([
    "model",
    "image_url",
    "n",
    "seed",
    "callback_url",
    "retain_seconds",
  ]);
  expect(model.schema).toMatchObject({ required: ["model", "image_url"], additionalProperties: false });
});

test("a route says how its requests are worded", () => {
  const wording = {
    endpoints: { edit: "/edit" },
    ...{ prompt: "text", count: "num_images", constants: { sync: false } },
    parameters: { size: { field: "image_size", values: { "1:1": { width: 1 } } } },
    inputs: { image: { field: "images", list: true } },
  };
  const properties = { image_url: {}, n: { type: "integer" }, size: { type: "string" } };
  const [route] = read(
    manifest({
      schema: { required: [], properties },
      routes: [{ provider: "p", upstream_model: "u", wording }],
    }),
  ).routes;
  expect(route?.wording).toEqual({ ...wording, inputs: { image: { field: "images", isList: true } } });
});

const SCHEMA = { required: [], properties: { image_url: {}, style: { type: "string", enum: ["a", "b"] } } };
const worded = (wording: JsonObject): JsonObject =>
  manifest({
    schema: SCHEMA,
    routes: [
      {
        provider: "p",
        upstream_model: "u",
        wording: { inputs: { image: { field: "image" } }, ...wording },
      },
    ],
  });

const limited = (...routes: JsonObject[]): JsonObject =>
  manifest({
    modes: ["edit", "draw"].map((id) => ({ id, requires: [] })),
    schema: {
      required: ["text"],
      properties: {
        text: { type: "string", maxLength: 99 },
        images: { type: "array", maxItems: 3 },
        n: { type: "integer", minimum: 1, maximum: 4 },
        style: { type: "string", enum: ["a", "b"] },
        sound: { type: "boolean", default: true },
      },
    },
    shared: ["seed"],
    media: { images: { role: "image", media: "image" } },
    routes: routes.map((route, i) => ({ provider: "p", upstream_model: `u${i}`, ...route })),
  });

test("routes have accounts, weights and costs of their own, and a model its policy and overflow", () => {
  const cost = line({ amount: "0.020000" });
  const model = read(
    manifest({
      routes: [
        { provider: "sandbox", upstream_model: "picture", account: "second", weight: 2.5, cost },
        { provider: "fal", upstream_model: "a:b", account: "default", cost: "list" },
      ],
      route_policy: "weighted",
      overflow: { to: "fal:a:b", after_seconds: 60, most_per_hour: 5, most_cost: "1.50" },
    }),
  );
  expect(model).toMatchObject({
    routePolicy: "weighted",
    overflow: {
      to: { provider: "fal", upstreamModel: "a:b" },
      afterMs: 60_000,
      mostPerHour: 5,
      mostCost: 1_500_000,
    },
    routes: [
      { account: "sandbox/second", weight: 2.5, cost: { lines: [{ unitMicros: 20_000 }] } },
      { account: "fal", cost: "list" },
    ],
  } as never);
});

test("what one route does not take, another may", () => {
  const some = {
    modes: ["edit"],
    only: { n: false, style: { enum: ["a"] }, sound: { enum: [false] }, seed: false },
  };
  const others = {
    only: { text: { maximum: 9 }, images: { minimum: 1, maximum: 2 }, style: { enum: ["b"] } },
  };
  expect(
    read(limited(some, others, { only: { text: { minimum: 10 }, images: { minimum: 3 } } })).routes,
  ).toMatchObject([some, others, { only: { text: { minimum: 10 } } }]);
});

test.each([
  [null, "the manifest must be an object"],
  [manifest({ nmae: "M" }), 'the manifest has an unknown field "nmae"; did you mean "name"?'],
  [manifest({ name: undefined }), 'the manifest lacks the field "name"'],
  [manifest({ name: "" }), "name must be a text that is not empty"],
  [manifest({ kind: "audio" }), "kind must be one of image, video"],
  [manifest({ deadline_seconds: 0.5 }), "deadline_seconds must be a whole number above 0"],
  [manifest({ modes: [] }), "modes must have at least one entry"],
  [
    manifest({ modes: [{ id: "edit", requires: ["mask"] }] }),
    'modes[0].requires[0] names the role "mask", which no field under media has',
  ],
  [
    manifest({ modes: ["a", "a"].map((id) => ({ id, requires: [] })) }),
    'modes[1].id is the id of another mode too: "a"',
  ],
  [
    manifest({ media: { image: { role: "image", media: "image" } } }),
    'media.image names "image", which is no property of the schema',
  ],
  [
    manifest({ schema: { required: ["x"], properties: { image_url: {} } } }),
    'schema.required[0] names "x", which is no property of the schema',
  ],
  [
    manifest({ schema: { required: [], properties: { image_url: { type: "strng" } } } }),
    "schema.properties.image_url.type must be one of array, boolean, integer",
  ],
  [
    manifest({ schema: { required: [], properties: { image_url: { mininum: 1 } } } }),
    'schema cannot be used: strict mode: unknown keyword: "mininum"',
  ],
  [
    manifest({ shared: ["sede"] }),
    'shared[0] names "sede", which shared.yaml does not have; did you mean "seed"?',
  ],
  [
    manifest({ kind: "video", follow_ups: { upscale: {} } }),
    'follow_ups.upscale needs a field of the role "video" under media',
  ],
  [manifest({ follow_ups: { extend: {} } }), "follow_ups.extend is for models that make videos"],
  [
    manifest({ follow_ups: { upscale: { sise: "x" } } }),
    "follow_ups.upscale.sise is no property of the schema",
  ],
  [manifest({ always: { n: 1 } }), "always.n is a property of the schema, which says what it may be"],
  [manifest({ always: { steps: {} } }), "always.steps must be a text, a number, a boolean or a list"],
  [manifest({ follow_ups: { shrink: {} } }), 'follow_ups has an unknown field "shrink"'],
  [manifest({ result_input: { role: "image" } }), 'result_input needs the property "task_id" in the schema'],
  [
    manifest({ price: line({ when: { image_url: "x" } }) }),
    "price.lines[0].when.image_url is nothing that a price can depend on",
  ],
  [manifest({ price: line({ amount: 1 }) }), "price.lines[0].amount must be an amount in quotes"],
  [manifest({ routes: [{ provider: "sandbox" }] }), 'routes[0] lacks the field "upstream_model"'],
  [manifest({ route_policy: "fast" }), "route_policy must be one of ordered, weighted, cheapest"],
  ...[0, -1, "2"].map((weight): [JsonObject, string] => [
    manifest({ routes: [{ provider: "sandbox", upstream_model: "picture", weight }] }),
    "routes[0].weight must be a number above 0",
  ]),
  [
    manifest({ routes: [{ provider: "sandbox", upstream_model: "picture", account: "Main!" }] }),
    "routes[0].account must be the name of an account",
  ],
  [
    manifest({ routes: [{ provider: "sandbox", upstream_model: "picture", cost: "free" }] }),
    "routes[0].cost must be list, or a price with lines",
  ],
  [
    manifest({
      routes: [{ provider: "sandbox", upstream_model: "picture", cost: line({ when: { image_url: "x" } }) }],
    }),
    "routes[0].cost.lines[0].when.image_url is nothing that a price can depend on",
  ],
  [
    manifest({ overflow: { to: "fal", after_seconds: 60 } }),
    'overflow.to names "fal", which is no route of the model; its routes: sandbox:picture',
  ],
  [
    manifest({ overflow: { to: "sandbox", after_seconds: 60 } }),
    'overflow.to names "sandbox", which is every route of the model',
  ],
  [
    manifest({
      routes: ["sandbox", "fal"].map((provider) => ({ provider, upstream_model: "picture" })),
      overflow: { to: "fal", after_seconds: 60, most_cost: "1.00" },
    }),
    "overflow.most_cost needs the cost of fal, and its route has none",
  ],
  [
    manifest({ overflow: { to: "fal", after_seconds: 0 } }),
    "overflow.after_seconds must be a whole number above 0",
  ],
  [
    manifest({ routes: [1, 2].map(() => ({ provider: "sandbox", upstream_model: "picture" })) }),
    "routes[1] is routes[0] again",
  ],
  [
    manifest({
      schema: { required: [], properties: { image_url: {}, n: { type: "integer", minimum: 1, maximum: 4 } } },
      routes: [{ provider: "p", upstream_model: "u", wording: { inputs: { image: { field: "image" } } } }],
    }),
    'schema.properties.n.maximum is 4, which no route takes; one with wording takes several outputs only with "count"',
  ],
  [
    worded({ inputs: {} }),
    'schema.properties.image_url holds an input with the role "image", which no route takes; one with wording',
  ],
  [worded({ inputs: { imgae: { field: "x" } } }), 'routes[0].wording.inputs has an unknown name "imgae"'],
  [worded({ endpoints: { edit: "../x" } }), "routes[0].wording.endpoints.edit must be a path such as"],
  [worded({ endpoints: {} }), 'modes[0].id is "edit", which no route does'],
  [
    worded({ endpoints: { edit: "/e", exit: "/x" } }),
    'routes[0].wording.endpoints names "exit", which is no mode of the model; did you mean "edit"?',
  ],
  [
    worded({ parameters: { stile: { field: "x" } } }),
    'routes[0].wording.parameters.stile is no property of the schema; did you mean "style"?',
  ],
  [
    worded({ parameters: { style: { values: { a: 1 } } } }),
    'schema.properties.style.enum[1] is "b", which no route takes',
  ],
  [
    worded({ parameters: { style: { values: { a: 1, b: 2 }, template: "${value}" } } }),
    "routes[0].wording.parameters.style must have values or template, not both",
  ],
  [
    worded({ parameters: { style: { template: "x" } } }),
    "routes[0].wording.parameters.style.template must be a text with ${value} in it",
  ],
  [
    limited({ modes: ["edti"] }),
    'routes[0].modes[0] names "edti", which is no mode of the model; did you mean "edit"?',
  ],
  [
    limited({ only: { stile: false } }),
    'routes[0].only names "stile", which is no property of the schema; did you mean "style"?',
  ],
  [
    limited({ only: { style: true } }),
    "routes[0].only.style must be false, or have enum, or minimum and maximum",
  ],
  [
    limited({ only: { style: {} } }),
    "routes[0].only.style must be false, or have enum, or minimum and maximum",
  ],
  [
    limited({ only: { style: { enum: ["a"], minimum: 1 } } }),
    "routes[0].only.style must have enum, or minimum",
  ],
  [
    limited({ only: { style: { enmu: ["a"] } } }),
    'routes[0].only.style has an unknown field "enmu"; did you mean',
  ],
  [
    limited({ only: { style: { enum: ["c"] } } }),
    'routes[0].only.style.enum[0] is "c", which the schema does not',
  ],
  [limited({ only: { n: { maximum: 5 } } }), "routes[0].only.n.maximum is 5, above the 4 of the schema"],
  [limited({ only: { n: { minimum: 0 } } }), "routes[0].only.n.minimum is 0, below the 1 of the schema"],
  [limited({ only: { n: { minimum: 3, maximum: 2 } } }), "routes[0].only.n.maximum is 2, below its minimum"],
  [
    limited({ only: { sound: { minimum: 1 } } }),
    "routes[0].only.sound has bounds, but its property has no size",
  ],
  [
    limited({ only: { sound: false } }),
    "routes[0].only.sound is false, so that the route takes no request: the schema",
  ],
  [
    limited({ only: { text: false } }),
    "routes[0].only.text is false, so that the route takes no request: the schema",
  ],
  [limited({ modes: ["edit"] }), 'modes[1].id is "draw", which no route does'],
  [
    limited({ only: { style: { enum: ["b"] } } }),
    'schema.properties.style.enum[0] is "a", which no route takes',
  ],
  [
    limited({ only: { sound: { enum: [false] } } }),
    "schema.properties.sound may be true, which no route takes",
  ],
  [limited({ only: { n: { maximum: 3 } } }), "schema.properties.n.maximum is 4, which no route takes"],
  [
    limited({ only: { text: { maximum: 50 } } }),
    "schema.properties.text.maxLength is 99, which no route takes",
  ],
  [
    limited({ only: { images: { maximum: 2 } } }),
    "schema.properties.images.maxItems is 3, which no route takes",
  ],
  [
    limited({ only: { images: false } }),
    'schema.properties.images holds an input with the role "image", which no route takes',
  ],
  [limited({ only: { seed: false } }), 'shared[0] names "seed", which no route takes'],
  [worded({ constants: { image: 1 } }), 'routes[0].wording has two values for the field "image"'],
  [
    worded({ parameters: { style: { spread: true, values: { a: { image: 1 } } } } }),
    'routes[0].wording has two values for the field "image"',
  ],
  [
    worded({ parameters: { style: { spread: true, values: { a: 1 } } } }),
    "routes[0].wording.parameters.style.values.a must be an object",
  ],
  [
    worded({ parameters: { style: { spread: true, field: "x", values: { a: { width: 1 } } } } }),
    "routes[0].wording.parameters.style must have spread or field, not both",
  ],
  [
    worded({ parameters: { style: { spread: true } } }),
    'routes[0].wording.parameters.style lacks the field "values"',
  ],
] as const)("a bad manifest is named by file, place and field: %#", (content, problem) => {
  const [first] = problemsOf(JSON.stringify(content));
  expect(first).toMatch(/^m\.yaml:1:\d+: /);
  expect(first?.replace(/^\S+ /, "")).toStartWith(problem);
});

const YAML = `id: m
kind: image
name: M
description: A model.
modes:
  - { id: draw, requires: [] }
schema:
  required: [prompt]
  properties:
    prompt: { type: string }
price:
  lines:
    - sku: m
      unit: output
      amount: "1"
deadline_seconds: 120
routes:
  - { provider: sandbox, upstream_model: picture }
`;

test.each([
  ["kind: image", "kind: audio", "m.yaml:2:7: kind must be one of image, video"],
  ['amount: "1"', "amount: 0.01", "m.yaml:15:15: price.lines[0].amount must be an amount in quotes"],
  ["unit: output", "unti: output", 'm.yaml:14:7: price.lines[0] has an unknown field "unti"; did you mean'],
  ["requires: []", "requires: [image]", 'm.yaml:6:28: modes[0].requires[0] names the role "image"'],
  ["name: M", "name: {", "m.yaml:"],
  ["name: M", "kind: video", "m.yaml:3:1: this key is already in the same mapping"],
])("a problem is told with the line and column of what is at fault: %s → %s", (from, to, told) => {
  expect(problemsOf(YAML)).toEqual([]);
  expect(problemsOf(YAML.replace(from, to))[0]).toStartWith(told);
});

test("every problem of a manifest is told at once", () => {
  const text = YAML.replace("kind: image", "kind: audio").replace("unit: output", "unit: pixel");
  expect(problemsOf(text)).toEqual([
    "m.yaml:2:7: kind must be one of image, video",
    expect.stringContaining("m.yaml:14:13: price.lines[0].unit must be one of output, second"),
  ]);
});
