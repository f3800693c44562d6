import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { callbackPayload } from "../../src/domain/callback/callback-payload.ts";
import { ERROR_CODES, TASK_ERROR_CODES } from "../../src/domain/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import type { Task } from "../../src/domain/task/task.ts";
import { createSharedBodies } from "../../src/http/docs/shared-body.ts";
import { mannersOf } from "../../src/http/facades/spoken.ts";
import { createComponents } from "../../src/http/openapi/components.ts";
import { STATUS } from "../../src/http/problem.ts";
import { PROVIDERS, providerNeeds } from "../../src/providers/registry.ts";
import { VERSION } from "../../src/version.ts";
import { compileAt } from "../helpers/openapi.ts";
import { assetId, NOW, newTask } from "../helpers/store.ts";
import { type PublishedService, startPublished } from "./openapi-service.ts";

let service: PublishedService;
let url: string;
let document: JsonObject;

beforeAll(async () => {
  // The models of every provider are in the document, whose compilation takes seconds; none of them is asked for anything.
  const variables = PROVIDERS.flatMap(({ id }) => providerNeeds(id) ?? []).filter((name) =>
    /^[A-Z]/.test(name),
  );
  service = await startPublished(Object.fromEntries(variables.map((name) => [name, `test-${name}`])));
  ({ url, document } = service);
});

afterAll(() => service.stop());

interface Operation {
  readonly name: string;
  readonly path: string;
  readonly value: JsonObject;
}

function members(value: Json | undefined): [string, JsonObject][] {
  return Object.entries(isJsonObject(value) ? value : {}).filter((entry): entry is [string, JsonObject] =>
    isJsonObject(entry[1]),
  );
}

function operations(): Operation[] {
  return members(document.paths).flatMap(([path, item]) =>
    members(item).map(([method, value]) => ({ name: `${method} ${path}`, path, value })),
  );
}

/** Every object in the document, and where it is. */
function* walk(value: Json | undefined, pointer = ""): Generator<[string, JsonObject]> {
  if (isJsonObject(value)) yield [pointer, value];
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield* walk(member, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

function at(pointer: string): Json | undefined {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<Json | undefined>((value, name) => (value as JsonObject | undefined)?.[name], document);
}

function component(group: string, name: string): JsonObject {
  return at(`/components/${group}/${name}`) as JsonObject;
}

function endedTask(status: "completed" | "failed"): Task {
  const ended = {
    stage: "terminal",
    progress: 100,
    attempts: 1,
    failures: 0,
    cancelRequested: false,
  } as const;
  const task = { ...newTask(), ...ended, status, completedAt: NOW + 1000 };
  return status === "completed"
    ? { ...task, results: [{ assetId: assetId(1), type: "image/png" }] }
    : { ...task, results: [], error: { code: "UPSTREAM_ERROR", message: "It failed." } };
}

describe("the document", () => {
  test("is valid by the schema of OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(document).toMatchObject({ openapi: "3.1.0", info: { version: VERSION } });
  });

  test("has no reference that leads nowhere", () => {
    const references = [...walk(document)].flatMap(([, value]) =>
      typeof value.$ref === "string" ? [value.$ref] : [],
    );
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((reference) => at(reference.slice(1)) === undefined)).toEqual([]);
  });

  test("has no two operations of one id, and only groups that it describes", () => {
    const ids = operations().map(({ value }) => value.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = (document.tags as { name: string }[]).map(({ name }) => name);
    const used = operations().flatMap(({ value }) => value.tags as string[]);
    expect(new Set(used)).toEqual(new Set(tags));
  });

  test("declares every parameter of every path, and no other", () => {
    for (const { name, path, value } of operations()) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
      const declared = ((value.parameters ?? []) as JsonObject[])
        .filter((parameter) => parameter.in === "path")
        .map((parameter) => parameter.name);
      expect([name, declared]).toEqual([name, inPath]);
    }
  });

  test("says that callbacks are signed for keys that ask for it", () => {
    const text = JSON.stringify(document);
    expect(text).not.toMatch(/no signature/i);
    expect(text).toContain("A key can have its callbacks signed, which is off by default");
  });

  test("lists every error code, each with the status it is answered with", () => {
    const listed = members(at("/components/responses")).flatMap(
      ([, response]) => (response["x-error-codes"] ?? []) as string[],
    );
    expect(new Set(listed)).toEqual(new Set(ERROR_CODES));
    for (const { path, value } of operations()) {
      const { statuses } = mannersOf(path) ?? {};
      for (const [status, response] of members(value.responses)) {
        const { $ref } = response;
        const codes = (at(String($ref).slice(1)) as JsonObject | undefined)?.["x-error-codes"] ?? [];
        for (const code of codes as (keyof typeof STATUS)[])
          expect(statuses?.[code] ?? STATUS[code]).toBe(Number(status));
      }
    }
    expect(component("schemas", "TaskErrorCode")["x-extensible-enum"]).toEqual(TASK_ERROR_CODES);
  });

  test("closes every object an answer holds, but for those that stand for others' data", () => {
    const answers = [...walk(document.paths, "/paths"), ...walk(document.components, "/components")];
    const open = answers
      .filter(([pointer]) => !pointer.includes("/requestBody/"))
      .filter(
        ([pointer]) =>
          !/\/schemas\/(?:Request\.|Create|EstimateRequest|Generate|Edit|Vary|Automatic1111(?:Asked|File$))/.test(
            pointer,
          ),
      )
      .filter(([, value]) => [value.type].flat().includes("object") && value.additionalProperties !== false)
      .map(([pointer]) => pointer);
    expect(open.sort()).toEqual([
      "/components/schemas/ApiKey/properties/aliases",
      "/components/schemas/ApiKeyWithSecret/properties/aliases",
      "/components/schemas/Automatic1111Pictures/properties/parameters",
      "/components/schemas/Automatic1111Texts/properties/items",
      "/components/schemas/Automatic1111Texts/properties/parameters",
      "/components/schemas/BeginFalUpload",
      "/components/schemas/CallbackInFull/properties/payload/anyOf/2",
      "/components/schemas/ChangedApiKey/properties/aliases",
      "/components/schemas/ExtendTask",
      "/components/schemas/FalInput",
      "/components/schemas/ListedApiKey/properties/aliases",
      "/components/schemas/ManagedCallbackInFull/properties/payload/anyOf/2",
      "/components/schemas/ManagedModel/properties/always",
      "/components/schemas/ManagedModel/properties/routes/items/properties/only",
      "/components/schemas/ManagedModelInFull/properties/always",
      "/components/schemas/ManagedModelInFull/properties/routes/items/properties/only",
      "/components/schemas/ManagedModelInFull/properties/schema",
      "/components/schemas/ManagedPrice/properties/unpriced",
      "/components/schemas/ManagedProviderInFull/properties/facts",
      "/components/schemas/ManagedTaskStory/properties/request/properties/parameters",
      "/components/schemas/ManagedTracedTask/properties/request/properties/parameters",
      "/components/schemas/McpMessage",
      "/components/schemas/McpMessage/properties/error",
      "/components/schemas/McpMessage/properties/params",
      "/components/schemas/McpMessage/properties/result",
      "/components/schemas/Model/properties/always",
      "/components/schemas/ModelInFull/properties/always",
      "/components/schemas/ModelInFull/properties/schema",
      "/components/schemas/ModelPrice/properties/lines/items/properties/when",
      "/components/schemas/PriceRule/properties/lines/items/properties/when",
      "/components/schemas/ReplicateFile/properties/metadata",
      "/components/schemas/ReplicatePrediction/properties/input",
      "/components/schemas/ReplicateVersion/properties/openapi_schema",
      "/components/schemas/ResetPrice/properties/unpriced",
      "/components/schemas/TaskStory/properties/request/properties/parameters",
      "/components/schemas/TracedTask/properties/request/properties/parameters",
      "/components/schemas/TrailEntry/properties/after",
      "/components/schemas/TrailEntry/properties/before",
      "/components/schemas/UpscaleTask",
      "/paths/~1openapi.json/get/responses/200/content/application~1json/schema",
    ]);
  });

  test("has each model's own schema, and takes no example that the model would refuse", () => {
    const catalog = createCatalog({ providers: PROVIDERS.map(({ id }) => id) });
    for (const kind of ["image", "video"] as const) {
      const name = kind === "image" ? "CreateImageTask" : "CreateVideoTask";
      const models = catalog.models().filter((model) => model.kind === kind);
      const union = component("schemas", name);
      expect(Object.keys((union.discriminator as JsonObject).mapping as JsonObject)).toEqual(
        models.map(({ id }) => id),
      );
      const isValid = compileAt(document, `/components/schemas/${name}`);
      for (const example of union.examples as JsonObject[]) {
        expect(catalog.validate(catalog.find(String(example.model))!, example)).toMatchObject({ ok: true });
        expect([example, isValid(example), isValid.errors]).toEqual([example, true, null]);
        expect(isValid({ ...example, promt: "A fox" })).toBe(false);
        expect(isValid({ ...example, model: "no-model" })).toBe(false);
      }
    }
  }, 30_000);

  test("has no example of a body that does not fit its schema", () => {
    const bodies = operations().flatMap(({ name, path }) =>
      members(at(`/paths/${path.replaceAll("/", "~1")}/${name.split(" ")[0]}/requestBody/content`)).map(
        ([type, content]) => ({
          pointer: `/paths/${path.replaceAll("/", "~1")}/${name.split(" ")[0]}/requestBody/content/${type.replaceAll("/", "~1")}/schema`,
          example: content.example,
        }),
      ),
    );
    const shown = bodies.filter(({ example }) => example !== undefined);
    expect(shown.length).toBeGreaterThan(3);
    for (const { pointer, example } of shown) {
      const isValid = compileAt(document, pointer);
      expect([pointer, isValid(example), isValid.errors]).toEqual([pointer, true, null]);
    }
  }, 30_000);

  test.each(["completed", "failed"] as const)(
    "describes the callback of a %s task as it is sent",
    (status) => {
      const task = endedTask(status);
      const isValid = compileAt(document, "/components/schemas/TaskCallback");
      const payload = JSON.parse(callbackPayload(task, undefined));
      expect([isValid(payload), isValid.errors]).toEqual([true, null]);
      expect(isValid({ ...payload, account_id: "acc" })).toBe(false);
    },
  );

  test("asks for a credential of the right kind, and for none where none is needed", () => {
    const schemes = Object.keys(at("/components/securitySchemes") as JsonObject);
    for (const { name, path, value } of operations()) {
      const kinds = (value.security as JsonObject[]).flatMap((each) => Object.keys(each));
      const [, first] = path.split("/");
      const isPermission = /\{upload\}$|jwks|\/upload\/files|v1\/stream\//.test(path);
      const counts: Readonly<Record<string, number>> = {
        ...{ v1: 4, compat: 5, gemini: 4, fal: 5, replicate: 5, admin: 1, metrics: 1, mcp: 4 },
        ...{ sdapi: 5, queue: 5, internal: 5 },
      };
      const expected = isPermission ? 0 : (counts[first ?? ""] ?? 0);
      expect([name, kinds.length]).toEqual([name, expected]);
      expect(kinds.includes("managementToken")).toBe(first === "admin" || first === "metrics");
      expect(schemes).toEqual(expect.arrayContaining(kinds));
    }
  });
});

test("the document names the origin its reader used, and is not sent again to who has it", async () => {
  const byName = await fetch(`${url}/openapi.json`, { headers: { Host: "media.example:8443" } });
  expect(await byName.json()).toMatchObject({ servers: [{ url: "http://media.example:8443" }] });
  const etag = byName.headers.get("etag") ?? "";
  const headers = { Host: "media.example:8443", "If-None-Match": `"old", W/${etag}` };
  const again = await fetch(`${url}/openapi.json`, { headers });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  const elsewhere = await fetch(`${url}/openapi.json`, { headers: { "If-None-Match": etag } });
  expect(elsewhere.status).toBe(200);
});

test("the document comes in pieces, of which the first is the reader's own, and a HEAD tells their length", async () => {
  const byName = { headers: { Host: "media.example:8443" } };
  const { headers } = await fetch(`${url}/openapi.json`, { ...byName, method: "HEAD" });
  const pieces = createSharedBodies()(new Uint8Array(150_000).fill(32), '{"servers":[],')[
    Symbol.asyncIterator
  ]();
  const lengths: number[] = [];
  for (let next = await pieces.next(); !next.done; next = await pieces.next())
    lengths.push(next.value.length);
  expect(lengths).toEqual([14, 65_536, 65_536, 18_928]);
  const whole = await (await fetch(`${url}/openapi.json`, byName)).bytes();
  expect(whole.length).toBe(Number(headers.get("content-length")));
  expect(JSON.parse(new TextDecoder().decode(whole)).openapi).toMatch(/^3\.1/);
});

test("the reference page names nothing outside its own origin, and may load nothing from there", async () => {
  const page = await fetch(`${url}/docs`);
  const html = await page.text();
  expect(html).not.toMatch(/(?:https?:)?\/\/[a-z]/);
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; ");
  expect(policy).toContain("connect-src 'self'");
  expect(policy).not.toMatch(/unsafe-eval|https?:|\*/);
  expect(html).not.toMatch(/<script(?![^>]* src=)[^>]*>[^<]/);
});

test("the page's script is kept for ever under its name, and comes compressed to who takes that", async () => {
  const [, name] = /src="(docs\/[^"]+)"/.exec(await (await fetch(`${url}/docs`)).text()) ?? [];
  const plain = await fetch(`${url}/${name}`, { headers: { "Accept-Encoding": "identity" } });
  const text = await plain.text();
  expect(text.length).toBeGreaterThan(1_000_000);
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(plain.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  const zipped = await fetch(`${url}/${name}`, { headers: { "Accept-Encoding": "br;q=1, gzip;q=0.5" } });
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
  expect(Number(zipped.headers.get("content-length"))).toBeLessThan(1_500_000);
  expect((await zipped.text()) === text).toBe(true);
  const refused = await fetch(`${url}/${name}`, { headers: { "Accept-Encoding": "gzip;q=0" } });
  expect(refused.headers.get("content-encoding")).toBeNull();
  await refused.body?.cancel();
  expect((await fetch(`${url}/docs/other.js`)).status).toBe(404);
});

test("two schemas of one title are a mistake", () => {
  const components = createComponents(new Map());
  components.refer({ anyOf: [{ title: "Same", type: "string" }] });
  expect(() => components.refer({ title: "Same", type: "integer" })).toThrow("Two schemas are titled Same.");
});
