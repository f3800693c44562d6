import { unescape as plain } from "node:querystring";
import { isJsonObject, type JsonObject } from "../../../domain/json.ts";

/** An OpenAPI document from which no form can be started. */
export class OpenApiError extends Error {
  override readonly name = "OpenApiError";
}

/** A field of a body, with its place: `data.task_id`. `[]` stands for every entry of a list. */
export interface FoundField {
  readonly path: readonly string[];
  readonly schema: JsonObject;
}

export interface FoundOperation {
  readonly method: "get" | "post";
  readonly path: string;
  readonly operation: JsonObject;
}

const DEEPEST = 6;
const MOST_FIELDS = 400;

/** An OpenAPI document (3.0 or 3.1), as far as a form can be begun with it. */
export class OpenApi {
  readonly #document: JsonObject;

  /** @throws OpenApiError */
  constructor(document: unknown) {
    if (!isJsonObject(document)) throw new OpenApiError("is no OpenAPI document: it must be a mapping");
    if (typeof document.swagger === "string")
      throw new OpenApiError(`swagger: is version ${document.swagger}; convert it to OpenAPI 3 first`);
    if (typeof document.openapi !== "string" || !document.openapi.startsWith("3."))
      throw new OpenApiError("openapi: must be there and begin with 3.");
    if (!isJsonObject(document.paths) || Object.keys(document.paths).length === 0)
      throw new OpenApiError("paths: must have the API's calls");
    this.#document = document;
  }

  /** The address of the first server, unless it is none by itself. */
  get base(): string | undefined {
    const { servers } = this.#document;
    const [first] = Array.isArray(servers) ? servers : [];
    const text = isJsonObject(first) && typeof first.url === "string" ? first.url : "";
    const url = URL.parse(text);
    return url?.protocol === "https:" && !text.includes("{") ? text.replace(/\/+$/, "") : undefined;
  }

  get title(): string | undefined {
    const { info } = this.#document;
    return isJsonObject(info) && typeof info.title === "string" ? info.title.trim() : undefined;
  }

  /** The document's first way to authenticate. */
  get security(): JsonObject | undefined {
    const { components, security } = this.#document;
    const schemes =
      isJsonObject(components) && isJsonObject(components.securitySchemes) ? components.securitySchemes : {};
    const [used] = (Array.isArray(security) ? security : []).flatMap((each) =>
      isJsonObject(each) ? Object.keys(each) : [],
    );
    const scheme = this.resolve(schemes[used ?? ""] ?? Object.values(schemes)[0]);
    return isJsonObject(scheme) ? scheme : undefined;
  }

  operations(method: "get" | "post"): FoundOperation[] {
    return Object.entries(this.#document.paths as JsonObject).flatMap(([path, item]) => {
      const operation = this.resolve(isJsonObject(item) ? item[method] : undefined);
      return isJsonObject(operation) ? [{ method, path, operation }] : [];
    });
  }

  /** The body that a call takes: JSON if it may be JSON, else a form of parts. */
  bodyOf({ operation }: FoundOperation): { kind: "json" | "multipart"; schema: JsonObject } | undefined {
    const body = this.resolve(operation.requestBody);
    const content = isJsonObject(body) && isJsonObject(body.content) ? body.content : {};
    for (const [kind, pattern] of [
      ["json", /json/],
      ["multipart", /multipart/],
    ] as const) {
      const media = Object.entries(content).find(([type]) => pattern.test(type))?.[1];
      const schema = this.resolve(isJsonObject(media) ? media.schema : undefined);
      if (isJsonObject(schema)) return { kind, schema };
    }
    return undefined;
  }

  /** The schema of a success. */
  answerOf({ operation }: FoundOperation): JsonObject | undefined {
    const responses = isJsonObject(operation.responses) ? operation.responses : {};
    const status = Object.keys(responses).find((each) => /^2/.test(each)) ?? "default";
    const response = this.resolve(responses[status]);
    const content = isJsonObject(response) && isJsonObject(response.content) ? response.content : {};
    const media = Object.entries(content).find(([type]) => /json/.test(type))?.[1];
    const schema = this.resolve(isJsonObject(media) ? media.schema : undefined);
    return isJsonObject(schema) ? schema : undefined;
  }

  /** The members of an object, those of its parts and alternatives too. */
  propertiesOf(schema: JsonObject, seen = new Set<JsonObject>()): Record<string, JsonObject> {
    // A part may be the whole, and alternatives may have the same parts again and again.
    if (seen.has(schema)) return {};
    seen.add(schema);
    const own = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
    const parts = [schema.allOf, schema.oneOf, schema.anyOf].flatMap((each) =>
      Array.isArray(each) ? each : [],
    );
    const others = parts.flatMap((part) => {
      const resolved = this.resolve(part);
      return isJsonObject(resolved) ? Object.entries(this.propertiesOf(resolved, seen)) : [];
    });
    const all = [...others, ...own].map(([name, each]): [string, JsonObject] => {
      const resolved = this.resolve(each);
      return [name, isJsonObject(resolved) ? resolved : {}];
    });
    return Object.fromEntries(all);
  }

  /** Every field of a body, the outer ones first. */
  fieldsOf(schema: JsonObject): FoundField[] {
    const found: FoundField[] = [];
    let level: FoundField[] = [{ path: [], schema }];
    for (let depth = 0; depth < DEEPEST && level.length > 0 && found.length < MOST_FIELDS; depth++) {
      level = level.flatMap(({ path, schema: each }) => this.#below(path, each));
      found.push(...level);
    }
    return found;
  }

  #below(path: readonly string[], schema: JsonObject): FoundField[] {
    const items = this.resolve(schema.items);
    if (isJsonObject(items)) return [{ path: [...path, "[]"], schema: items }];
    return Object.entries(this.propertiesOf(schema)).map(([name, each]) => ({
      path: [...path, name],
      schema: each,
    }));
  }

  /** What a reference within the document leads to. */
  resolve(value: unknown, depth = 0): unknown {
    if (!isJsonObject(value) || typeof value.$ref !== "string" || depth > DEEPEST) return value;
    if (!value.$ref.startsWith("#/")) return {};
    const steps = value.$ref.slice(2).split("/");
    const target = steps.reduce<unknown>((owner, step) => {
      const name = plain(step).replaceAll("~1", "/").replaceAll("~0", "~");
      return isJsonObject(owner) && Object.hasOwn(owner, name) ? owner[name] : undefined;
    }, this.#document);
    return this.resolve(target, depth + 1);
  }
}
