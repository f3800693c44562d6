import { expect, test } from "bun:test";
import { createManifestReader, ManifestError } from "../../src/catalog/read-manifest.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import { findCycle } from "../../src/domain/model/workflow.ts";

const NODES: JsonObject = {
  "1": { class_type: "Loader", inputs: { name: "a.safetensors" }, _meta: { title: "Load" } },
  "2": { class_type: "Encode", inputs: { text: "a house", clip: ["1", 1] } },
  "3": { class_type: "Sampler", inputs: { seed: 1, positive: ["2", 0], model: ["1", 0], pixels: ["5", 0] } },
  "4": { class_type: "Latent", inputs: { width: 512, height: 512, batch_size: 1 } },
  "5": { class_type: "LoadImage", inputs: { image: "example.png" } },
  "9": { class_type: "Save", inputs: { images: ["3", 0] } },
};
const SLOTS: JsonObject = {
  prompt: { node: "2", input: "text" },
  size: { width: { node: 4, input: "width" }, height: { node: "4", input: "height" } },
  n: { node: "4", input: "batch_size" },
  seed: { node: "3", input: "seed" },
  image: { node: "5", input: "image" },
};

interface Parts {
  readonly workflow?: JsonObject;
  readonly route?: JsonObject;
  readonly over?: JsonObject;
  readonly properties?: JsonObject;
}

function manifest({ workflow = {}, route = {}, over = {}, properties = {} }: Parts = {}): Json {
  return {
    ...{ id: "m", kind: "image", name: "M", description: "A model." },
    modes: [{ id: "edit", requires: ["image"] }],
    schema: {
      required: ["prompt"],
      properties: {
        prompt: { type: "string" },
        size: { type: "string", enum: ["512x512", "768x512"] },
        n: { type: "integer", minimum: 1, maximum: 4 },
        image_url: { description: "An image." },
        ...properties,
      },
    },
    media: { image_url: { role: "image", media: "image" } },
    price: { lines: [{ sku: "m", unit: "output", amount: "0.01" }] },
    deadline_seconds: 120,
    routes: [
      {
        provider: "engine",
        upstream_model: "m",
        workflow: { slots: SLOTS, nodes: NODES, ...workflow },
        ...route,
      },
    ],
    ...over,
  };
}

const reader = createManifestReader();
const read = (parts?: Parts) => reader.read("m.yaml", JSON.stringify(manifest(parts))).model;

/** What is wrong with a manifest, a line for each problem without its position. */
function problems(parts: Parts): string[] {
  try {
    read(parts);
  } catch (error) {
    if (error instanceof ManifestError)
      return error.message.split("\n").map((line) => line.replace(/^m\.yaml:\d+:\d+: /, ""));
    throw error;
  }
  return [];
}
const AT = "routes[0].workflow";
const slots = (more: JsonObject, without: readonly string[] = []) => ({
  workflow: {
    slots: Object.fromEntries(
      Object.entries({ ...SLOTS, ...more }).filter(([name]) => !without.includes(name)),
    ),
  },
});
const nodes = (more: JsonObject) => ({ workflow: { nodes: { ...NODES, ...more } } });

test("a route with a workflow takes the inputs and the count that it has slots for", () => {
  const { wording } = read({ workflow: { outputs: [9] } }).routes[0] ?? {};
  expect(wording).toMatchObject({ count: "n", inputs: { image: { field: "image", isList: false } } });
  expect(wording?.workflow?.outputs).toEqual(["9"]);
  expect(wording?.workflow?.nodes["1"]).toEqual({ class_type: "Loader", inputs: { name: "a.safetensors" } });
  expect(wording?.workflow?.slots.size).toEqual({
    width: { node: "4", input: "width" },
    height: { node: "4", input: "height" },
  });
});

test("a slot names a node and an input that there are, and no link", () => {
  expect(problems(slots({ prompt: { node: "22", input: "text" } }))).toEqual([
    `${AT}.slots.prompt names the node "22", which there is not`,
  ]);
  expect(problems(slots({ prompt: { node: "2", input: "txet" } }))).toEqual([
    `${AT}.slots.prompt names the input "txet" of the node "2", which its Encode does not have; did you mean "text"?`,
  ]);
  expect(problems(slots({ prompt: { node: "3", input: "positive" } }))).toEqual([
    `${AT}.slots.prompt names the input "positive" of the node "3", which takes its value from the node "2"; name an input of that node`,
  ]);
});

test("a slot is for a field of the schema or a role of its media, each place for one", () => {
  expect(problems(slots({ promt: { node: "1", input: "name" } }))).toEqual([
    `${AT}.slots names "promt", which is no field of the schema and no role under media; did you mean "prompt"?`,
  ]);
  expect(problems(slots({ n: { node: "4", input: "width" } }))).toEqual([
    `${AT}.slots.n names the input "width" of the node "4", as slots.size does`,
  ]);
});

test("a mask may go to the node of its image, and nothing else may share a place", () => {
  const masked = {
    ...slots({ mask: { node: "5", input: "image" } }),
    properties: { mask_url: { description: "A mask." } },
    over: {
      modes: [{ id: "edit", requires: ["image", "mask"] }],
      media: { image_url: { role: "image", media: "image" }, mask_url: { role: "mask", media: "image" } },
    },
  };
  expect(problems(masked)).toEqual([]);
});

test("what a request may say has a slot, or the route says that it does not take it", () => {
  const steps = { steps: { type: "integer", minimum: 1, maximum: 50 } };
  expect(problems({ properties: steps })).toEqual([
    `${AT}.slots has none for "steps", which would be dropped; add one, or only: { steps: false } to the route`,
  ]);
  expect(problems(slots({}, ["n"]))).toEqual([
    'schema.properties.n.maximum is 4, which no route takes; one with wording takes several outputs only with "count", one with a workflow only with a slot for n',
  ]);
  expect(
    problems({ ...slots({}, ["n"]), properties: { n: { type: "integer", minimum: 1, maximum: 1 } } }),
  ).toEqual([]);
  expect(problems({ properties: { partial_images: { type: "integer", minimum: 0, maximum: 3 } } })).toEqual(
    [],
  );
});

test("a value has the parts that its slot has", () => {
  const size = { size: { type: "string", enum: ["512x512", "wide"] } };
  expect(problems({ properties: size })).toEqual([
    `${AT}.slots.size takes width and height, which "wide" does not have; give them under wording.parameters.size.values`,
  ]);
  const values = { "512x512": { width: 512, height: 512 }, wide: { width: 1344, height: 768 } };
  const wording = { parameters: { size: { values } } };
  expect(problems({ properties: size, route: { wording } })).toEqual([]);
});

test("a workflow that loads a file serves no mode without one", () => {
  const modes = [
    { id: "draw", requires: [] },
    { id: "edit", requires: ["image"] },
  ];
  const [problem, ...others] = problems({ over: { modes } });
  expect(problem).toBe(
    `${AT}.slots.image takes a file in every request, and the mode "draw" has none; give the route modes that require it`,
  );
  expect(others).toEqual([]);
  expect(problems({ over: { modes }, route: { modes: ["edit"] } })).toEqual([
    'modes[0].id is "draw", which no route does',
  ]);
});

test("several places take exactly as many files", () => {
  const two = [
    { node: "5", input: "image" },
    { node: "1", input: "name" },
  ];
  const list = (minItems: number) => ({
    image_url: { type: "array", minItems, maxItems: 2, description: "x" },
  });
  expect(problems({ ...slots({ image: two }), properties: list(1) })).toEqual([
    `${AT}.slots.image has 2 places, so image_url must have exactly so many files; say it with minItems and maxItems, or under only`,
  ]);
  expect(problems({ ...slots({ image: two }), properties: list(2) })).toEqual([]);
});

test("nodes that need each other, or one that there is not, are named", () => {
  const cycle = { "2": { class_type: "Encode", inputs: { text: "x", clip: ["3", 0] } } };
  expect(problems(nodes(cycle))).toEqual([`${AT}.nodes.2 needs itself: 2 → 3 → 2`]);
  expect(problems(nodes({ "9": { class_type: "Save", inputs: { images: ["33", 0] } } }))).toEqual([
    `${AT}.nodes.9 takes a value from the node "33", which there is not`,
  ]);
  expect(problems({ workflow: { outputs: ["10"] } })).toEqual([
    `${AT}.outputs[0] names the node "10", which there is not`,
  ]);
});

test("a graph as the editor saves it is no workflow", () => {
  const saved = { nodes: [{ id: 3, type: "KSampler", widgets_values: [] }], links: [], version: 0.4 };
  expect(problems({ workflow: { nodes: saved } })[0]).toContain(
    "routes[0].workflow.nodes.nodes must be an object",
  );
});

test("words that a workflow has slots for stand in its slots alone", () => {
  expect(problems({ route: { wording: { count: "n" } } })).toEqual([
    'routes[0].wording has "count", which a workflow says by its slots',
  ]);
});

test("a chain of thousands of nodes is gone through, and its cycle found", () => {
  const chain = Array.from({ length: 5000 }, (_, i) => [
    `n${i}`,
    { class_type: "X", inputs: { from: [`n${i + 1}`, 0] } },
  ]);
  const of = (last: string) => ({
    ...Object.fromEntries(chain),
    n5000: { class_type: "X", inputs: { from: [last, 0] } },
  });
  expect(findCycle(of("elsewhere"))).toBeUndefined();
  expect(findCycle(of("n4999"))?.toSorted()).toEqual(["n4999", "n4999", "n5000"]);
});
