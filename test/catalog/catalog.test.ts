import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { builtInManifests } from "../../src/catalog/built-in.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import schema from "../../src/catalog/manifest.schema.json";
import { createManifestReader } from "../../src/catalog/read-manifest.ts";
import { TASK_ERROR_CODES } from "../../src/domain/errors.ts";
import type { ModelId, ProviderId } from "../../src/domain/ids.ts";
import type { Json, JsonObject } from "../../src/domain/json.ts";
import { type Model, selectMode } from "../../src/domain/model/model.ts";
import { PRICE_UNITS } from "../../src/domain/money/price-units.ts";
import { pricedParameters, quote } from "../../src/domain/money/pricing.ts";

const MODELS = join(import.meta.dir, "../../src/catalog/models");
const catalog = createCatalog();

/** A property of a model's schema. */
function property(model: Model, name: string): { type?: Json; enum?: Json[]; default?: Json } | undefined {
  // Every schema has properties, which are objects.
  return (model.schema.properties as Record<string, JsonObject & { enum?: Json[] }>)[name];
}

const FILES = readdirSync(MODELS).sort();

test("every manifest in the folder is a model, under its own name", () => {
  expect(builtInManifests().map(([file]) => file)).toEqual(FILES);
  expect(
    catalog
      .models()
      .map((model) => `${model.id}.yaml`)
      .sort(),
  ).toEqual(FILES);
});

const reader = createManifestReader();

test.each(FILES)("%s has no problem, and reads as the model that is built in", (file) => {
  const text = readFileSync(join(MODELS, file), "utf8");
  expect(reader.read(file, text).model).toEqual(catalog.find(file.replace(".yaml", ""))!);
});

test("the schema of manifests has the units that prices are counted in", () => {
  expect(schema.$defs.priceLine.properties.unit.enum).toEqual([...PRICE_UNITS]);
});

test("models are listed by provider, then images before videos, then by id", () => {
  const [sandbox, other] = ["sandbox", "other"] as ProviderId[];
  const model = (id: string, kind: Model["kind"], provider = sandbox): Model => ({
    ...catalog.find("sandbox-image")!,
    ...{ id: id as ModelId, kind, routes: [{ provider: provider!, upstreamModel: "u" }] },
  });
  const models = [
    ...[model("a", "image", other), model("b", "video"), model("d", "image"), model("c", "image")],
    model("e", "image", "unlisted" as ProviderId),
  ];
  const listed = createCatalog({ models, providers: [sandbox!, other!] }).all();
  expect(listed.map(({ id }) => String(id))).toEqual(["c", "d", "b", "a", "e"]);
});

test("every schema is valid JSON Schema 2020-12, in which nothing is unknown but the words for messages", () => {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, code: { optimize: false } });
  ajv.addFormat("uri", true);
  for (const keyword of ["x-must", "x-rule", "x-param"]) ajv.addKeyword({ keyword, schemaType: "string" });
  for (const model of catalog.models()) expect(() => ajv.compile(model.schema)).not.toThrow();
});

test("every field a rule names is a property of its model", () => {
  for (const model of catalog.models()) {
    const names = [...JSON.stringify(model.schema.allOf ?? []).matchAll(/"required":\[([^\]]*)\]/g)];
    for (const name of names.flatMap(([, list = ""]) => list.split(",").map((text) => JSON.parse(text)))) {
      expect(property(model, name)).toBeDefined();
    }
  }
});

test("models are offered when one of their providers is switched on", () => {
  const off = createCatalog({ isEnabled: () => false });
  expect(off.models()).toEqual([]);
  expect(off.find("sandbox-image")).toBeUndefined();
  const on = createCatalog({ isEnabled: (provider) => provider === ("sandbox" as ProviderId) });
  expect(on.find("sandbox-image")?.id).toBe("sandbox-image" as ModelId);
});

test("the same models, put in again, follow which providers can be given files", () => {
  let takesFiles = true;
  const models = [catalog.find("sandbox-image")!];
  const live = createCatalog({ models, takesFiles: () => takesFiles });
  const routes = () => live.all().flatMap((model) => model.routes.map((route) => route.takesNoFiles));
  const seen = [true, false, true].map((now) => {
    takesFiles = now;
    live.replace(models);
    return routes();
  });
  expect(seen).toEqual([[undefined], [true], [undefined]]);
});

test("two models of one id are refused", () => {
  const model = catalog.find("sandbox-image")!;
  expect(() => createCatalog({ models: [model, { ...model }] })).toThrow(
    'Two models have the id "sandbox-image".',
  );
});

test("the codes that can be rehearsed are all codes a task can fail with", () => {
  for (const model of catalog.models().filter((each) => property(each, "sandbox") !== undefined)) {
    const sandbox = property(model, "sandbox") as { properties: { error_code: { enum: string[] } } };
    expect(sandbox.properties.error_code.enum).toEqual([...TASK_ERROR_CODES]);
  }
});

/** Every combination of the values that enumerated fields and booleans which the price depends on may have, absent included. */
function combinations(model: Model): JsonObject[] {
  const values = (name: string) =>
    property(model, name)?.enum ?? (property(model, name)?.type === "boolean" ? [true, false] : []);
  const names = pricedParameters(model.price).filter((name) => values(name).length > 0);
  return names.reduce<JsonObject[]>(
    (bodies, name) =>
      bodies.flatMap((body) => [body, ...values(name).map((value) => ({ ...body, [name]: value }))]),
    [{}],
  );
}

/** What the model requires: media, texts and choices. */
function essentials(model: Model): JsonObject {
  const fields = (model.schema.required as string[]).filter((name) => name !== "model");
  const value = (name: string) =>
    property(model, name)?.enum?.[0] ??
    (name.endsWith("_urls") ? ["https://example.com/a.png"] : "https://example.com/a");
  return { model: model.id, ...Object.fromEntries(fields.map((name) => [name, value(name)])) };
}

function modeOf(model: Model, body: JsonObject): string {
  const given = model.mediaFields.filter(({ name }) => Object.hasOwn(body, name));
  return selectMode(model, new Set(given.map(({ role }) => role)))!.id;
}

test.each(catalog.models().map((model) => [model.id, model] as const))(
  "every request %s takes has a price, of the right resolution where that makes the price",
  (_, model) => {
    let priced = 0;
    for (const choice of combinations(model)) {
      for (const duration of [undefined, 1, 10]) {
        const body = { ...essentials(model), ...choice, ...(duration === undefined ? {} : { duration }) };
        const validated = catalog.validate(model, body);
        if (!validated.ok) continue;
        const { prompt: _prompt, n, ...parameters } = validated.body as { [name: string]: Json };
        const request = {
          kind: model.kind,
          model: model.id,
          mode: modeOf(model, validated.body),
          n: (n as number | undefined) ?? 1,
          parameters,
          inputs: [],
        };
        const { lines, ceiling } = quote(model, request);
        expect(lines).not.toBeEmpty();
        for (const line of lines) {
          if (pricedParameters(model.price).includes("resolution")) {
            expect(line.sku).toEndWith(String(parameters.resolution));
          }
          if (line.unit === "second" && parameters.duration !== undefined)
            expect(line.perOutput).toBe(parameters.duration as number);
        }
        expect(ceiling).toBeGreaterThan(0);
        priced++;
      }
    }
    expect(priced).toBeGreaterThan(0);
  },
);

test.each([
  ["sandbox-image", [], "text-to-image"],
  ["sandbox-image", ["image"], "image-to-image"],
  ["sandbox-image", ["image", "mask"], "image-to-image-with-mask"],
  ["sandbox-video", [], "text-to-video"],
  ["sandbox-video", ["image"], "image-to-video"],
  ["sandbox-video-frames", ["first_frame"], "first-frame"],
  ["sandbox-video-frames", ["first_frame", "last_frame"], "first-last-frame"],
  ["sandbox-video-reference", ["reference"], "reference-to-video"],
  ["sandbox-video-edit", ["video"], "video-edit"],
  ["sandbox-video-motion", ["image", "motion"], "motion-control"],
] as const)("%s with inputs %j is %s", (id, roles, mode) => {
  expect(selectMode(catalog.find(id)!, new Set(roles))?.id).toBe(mode);
});

test("a provider that makes models of others comes last in those it makes, and changes nothing else of them", () => {
  const plain = createCatalog();
  const made = new Set(["flux-dev", "sandbox-image"]);
  const provider = "other" as ProviderId;
  const relays = () => [{ provider, makes: (id: string) => made.has(id) }];
  const catalog = createCatalog({ relays, isEnabled: (id) => id === provider });
  expect(
    catalog
      .models()
      .map(({ id }) => String(id))
      .sort(),
  ).toEqual([...made].sort());
  for (const model of catalog.models()) {
    const before = plain.find(model.id);
    expect(model).toEqual({
      ...before,
      routes: [...(before?.routes ?? []), { provider, upstreamModel: model.id }],
    } as never);
    expect(catalog.routes(model)).toEqual([{ provider, upstreamModel: model.id }]);
  }
  made.delete("flux-dev");
  catalog.replace(plain.all());
  expect(catalog.models().map(({ id }) => String(id))).toEqual(["sandbox-image"]);
});

test("a provider that a model has a route to gets no second one", () => {
  const [route] = createCatalog().find("flux-dev" as ModelId)?.routes ?? [];
  if (route === undefined) throw new Error("It has no route.");
  const catalog = createCatalog({ relays: () => [{ provider: route.provider, makes: () => true }] });
  const routes = catalog.find("flux-dev" as ModelId)?.routes ?? [];
  expect(routes.filter(({ provider }) => provider === route.provider)).toEqual([route]);
});
