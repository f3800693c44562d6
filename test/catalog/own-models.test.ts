import { describe, expect, test } from "bun:test";
import { builtInModels, createCatalog } from "../../src/catalog/catalog.ts";
import { createOwnModels, MAX_MANIFEST_BYTES } from "../../src/catalog/own-models.ts";
import type { Model } from "../../src/domain/model/model.ts";
import type { OwnFile } from "../../src/toolkit/own-files.ts";

const builtIn = builtInModels();

/** A manifest without a fault. The id is in line 1, the kind in line 2, the provider in line 10. */
const manifest = (id: string, more = ""): string => `id: ${id}
kind: image
name: Mine
description: A model of the house.
modes: [{ id: text-to-image, requires: [] }]
schema: { required: [prompt], properties: { prompt: { type: string } } }
price: { lines: [{ sku: mine, unit: output, amount: "0.020000" }] }
deadline_seconds: 60
routes:
  - { provider: sandbox, upstream_model: picture }
${more}`;

const file = (name: string, text: string): OwnFile => ({ name, text });

const take = createOwnModels({ builtIn, providers: () => ["sandbox", "openai"], prefix: "models/" });

/** Begins without files. */
function setup() {
  take([]);
  return (...files: OwnFile[]) => {
    const { models, problems } = take(files);
    const own = models.filter((model) => model.file !== undefined);
    return { models, own, problems, told: problems.map(({ line, effect }) => [line, effect]) };
  };
}

const names = (models: readonly Model[]) => models.map(({ id, file }) => `${id} ${file}`);

test("without files the models are those that are built in", () => {
  const { models, problems } = setup()();
  expect(models).toEqual(builtIn);
  expect(problems).toEqual([]);
});

test("a file adds a model, and one that says so takes the place of a built-in one", () => {
  const { models, own, problems } = setup()(
    file("a.yaml", manifest("mine-1.0")),
    file("b.yaml", manifest("veo3", "replaces: true\n")),
  );
  expect(names(own)).toEqual(["mine-1.0 models/a.yaml", "veo3 models/b.yaml"]);
  expect(models).toHaveLength(builtIn.length + 1);
  expect(models.filter(({ id }) => String(id) === "veo3")).toHaveLength(1);
  expect(problems).toEqual([]);
});

test.each([
  ["{ type: integer }", { type: "integer", minimum: 1, maximum: 10 }],
  ["{ type: integer, minimum: -3, maximum: 20 }", { type: "integer", minimum: 1, maximum: 20 }],
  ["{ type: integer, minimum: 2, maximum: 4 }", { type: "integer", minimum: 2, maximum: 4 }],
  ["{ enum: [1, 16] }", { enum: [1, 16] }],
  ["{}", { type: "integer", minimum: 1, maximum: 10 }],
  ["{ anyOf: [{ const: 1 }, { const: 2 }] }", { type: "integer", minimum: 1, maximum: 10 }],
  ["{ type: integer, default: 12 }", { type: "integer", minimum: 1, maximum: 12 }],
  ["{ type: string }", { type: "string" }],
])("the number of outputs has bounds, whatever a manifest says: n: %s", (written, n) => {
  const text = manifest("mine").replace("prompt: { type", `n: ${written}, prompt: { type`);
  const { own, problems } = setup()(file("a.yaml", text));
  expect(problems).toEqual([]);
  expect(own[0]?.schema.properties).toMatchObject({ n });
});

test("a file that does not say so takes the place of no built-in model", () => {
  const { models, told } = setup()(file("a.yaml", manifest("veo3")));
  expect(models).toEqual(builtIn);
  expect(told).toEqual([
    [
      'models/a.yaml:1:5: id is the id of a built-in model; add "replaces: true" for this one to take its place, or choose another id',
      "absent",
    ],
  ]);
});

test("of two files with one id the first by name counts", () => {
  const { own, told } = setup()(file("a.yaml", manifest("mine")), file("b.yaml", manifest("mine")));
  expect(names(own)).toEqual(["mine models/a.yaml"]);
  expect(told).toEqual([
    ['models/b.yaml:1:5: id is "mine", which is the id of the model in models/a.yaml too', "absent"],
  ]);
});

test("a route to a provider that is not there, and a replacement of nothing, are told and used all the same", () => {
  const text = manifest("vee3", "replaces: true\n").replace("sandbox", "openia");
  const { own, told } = setup()(file("a.yaml", text));
  expect(names(own)).toEqual(["vee3 models/a.yaml"]);
  expect(told).toEqual([
    [
      'models/a.yaml:11:11: replaces is true, and there is no built-in model "vee3"; did you mean "veo3"?',
      "used",
    ],
    [
      'models/a.yaml:10:17: routes[0].provider is "openia", and there is no such provider; did you mean "openai"?',
      "used",
    ],
  ]);
});

describe("a file that breaks", () => {
  test.each<[string, OwnFile, string]>([
    [
      "by its shape",
      file("a.yaml", manifest("mine").replace("image", "imago")),
      "models/a.yaml:2:7: kind must be one of image, video",
    ],
    ["by its syntax", file("a.yaml", "id: [mine"), "models/a.yaml:1:10: "],
    [
      "by an id that no address can have",
      file("a.yaml", manifest("a/b")),
      "models/a.yaml:1:5: id must be of letters, digits",
    ],
    [
      "by its size",
      file("a.yaml", `#${"x".repeat(MAX_MANIFEST_BYTES)}`),
      "models/a.yaml:1:1: larger than 131072 bytes",
    ],
    ["by not being there to read", { name: "a.yaml", problem: "is no file" }, "models/a.yaml is no file"],
    [
      "by an identifier that another schema may have too",
      file("a.yaml", manifest("mine").replace("type: string", 'type: string, $id: "x:y"')),
      'models/a.yaml:6:9: schema has a "$id", which is not taken',
    ],
  ])("%s is told, and its model stays as it was", (_, broken, line) => {
    const take = setup();
    const [before] = take(file("a.yaml", manifest("mine"))).own;
    const { own, problems } = take(broken);
    expect(own).toEqual([before!]);
    expect(problems[0]?.line).toStartWith(line);
    expect(problems[0]?.effect).toBe("kept");
  });

  test("from the beginning has no model", () => {
    const { models, problems } = setup()(file("a.yaml", manifest("mine").replace("image", "imago")));
    expect(models).toEqual(builtIn);
    expect(problems[0]?.effect).toBe("absent");
  });

  test("and is put right is used again", () => {
    const take = setup();
    take(file("a.yaml", "{"));
    const { own, problems } = take(file("a.yaml", manifest("mine")));
    expect(names(own)).toEqual(["mine models/a.yaml"]);
    expect(problems).toEqual([]);
  });
});

test("a file that is removed takes its model along, and the built-in one is back", () => {
  const take = setup();
  take(file("a.yaml", manifest("mine")), file("b.yaml", manifest("veo3", "replaces: true\n")));
  expect(take().models).toEqual(builtIn);
});

test("a model whose file has not changed is the same object", () => {
  const take = setup();
  const [before] = take(file("a.yaml", manifest("mine"))).own;
  const [after] = take(file("a.yaml", manifest("mine")), file("b.yaml", manifest("other"))).own;
  expect(after).toBe(before!);
});

test("a catalogue whose models are replaced offers, checks and lists the new ones", () => {
  const catalog = createCatalog({ models: builtIn, isEnabled: (id) => id === "sandbox" });
  const [listed, image] = [catalog.models(), catalog.find("sandbox-image")!];
  const take = setup();
  catalog.replace(take(file("a.yaml", manifest("mine"))).models);
  const mine = catalog.find("mine")!;
  expect(catalog.models()).not.toBe(listed);
  expect(catalog.models()).toBe(catalog.models());
  expect(catalog.validate(mine, { model: "mine", prompt: "x" }).ok).toBe(true);
  catalog.replace(
    take(
      file(
        "a.yaml",
        manifest("mine")
          .replace("[prompt], ", "[prompt, seed], ")
          .replace("prompt: {", "seed: {}, prompt: {"),
      ),
    ).models,
  );
  expect(catalog.validate(catalog.find("mine")!, { model: "mine", prompt: "x" })).toMatchObject({
    facts: { kind: "required", field: "seed" },
  });
  catalog.replace(take().models);
  expect(catalog.find("mine")).toBeUndefined();
  // A request under way may still hold it.
  expect(catalog.validate(mine, { model: "mine", prompt: "x" }).ok).toBe(true);
  expect(catalog.find("sandbox-image")).toBe(image);
  expect(() => catalog.replace([image, image])).toThrow('Two models have the id "sandbox-image".');
  expect(catalog.find("sandbox-image")).toBe(image);
});

test("of thousands of problems a hundred are told, each in few words", () => {
  const wrong = Array.from({ length: 3_000 }, (_, i) => i);
  const right = wrong.map((value) => value + wrong.length);
  const when = `amount: "0.020000", when: { a: [${wrong}] }`;
  const text = manifest("mine")
    .replace('amount: "0.020000"', when)
    .replace("prompt: { type", `a: { enum: [${right}] }, prompt: { type`);
  const { problems } = setup()(file("a.yaml", text));
  expect(problems).toHaveLength(101);
  expect(problems[0]?.line).toMatch(
    /^models\/a.yaml:7:\d+: price\.lines\[0\]\.when\.a\[0\] must be one of 3000, .*, 3049, or one of 2950 others$/,
  );
  expect(problems.at(-1)?.line).toBe("models/a.yaml:1:1: the manifest has 2900 more problems");
});

test("values of routes are not tried with patterns, which could take for ever", () => {
  const text = manifest("mine")
    .replace("prompt: { type", 'a: { type: string, maxLength: 9, pattern: "^(x+)+$" }, prompt: { type')
    .replace(
      "upstream_model: picture",
      "upstream_model: picture, only: { a: { enum: [xxxxy, xxxxxxxxxx] } }",
    );
  expect(setup()(file("a.yaml", text)).told).toEqual([
    [
      'models/a.yaml:10:78: routes[0].only.a.enum[1] is "xxxxxxxxxx", which the schema does not allow',
      "absent",
    ],
  ]);
});
