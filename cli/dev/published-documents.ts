/** An OpenAPI document, as far as these scripts look into one. */
export interface OpenApi {
  readonly [name: string]: unknown;
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

/** Reads an OpenAPI document from JSON or YAML. @throws Error for anything else, such as a page that says "not found" */
export function readOpenApi(text: string): OpenApi {
  const document: unknown = text.trimStart().startsWith("{") ? JSON.parse(text) : Bun.YAML.parse(text);
  if (isObject(document) && isObject(document.paths) && ("openapi" in document || "swagger" in document)) {
    return { ...document, paths: document.paths };
  }
  throw new Error("not an OpenAPI document");
}

/**
 * One document with the paths and schemas of all. Schemas that differ between documents and have the same name get a number after
 * it, and the references to them too.
 */
export function mergeDocuments(documents: readonly OpenApi[]): OpenApi {
  const [first, ...others] = documents;
  if (first === undefined) throw new Error("nothing to merge");
  return others.reduce(merge, first);
}

function merge(into: OpenApi, other: OpenApi): OpenApi {
  const known = into.components?.schemas ?? {};
  const added = Object.entries(other.components?.schemas ?? {});
  const renamed = new Map<string, string>();
  for (const [name, schema] of added) {
    if (known[name] === undefined || JSON.stringify(known[name]) === JSON.stringify(schema)) continue;
    let number = 2;
    while (`${name}${number}` in known) number++;
    renamed.set(name, `${name}${number}`);
  }
  const moved = withReferences(other, renamed);
  const schemas = Object.fromEntries(
    Object.entries(moved.components?.schemas ?? {}).map(([name, schema]) => [
      renamed.get(name) ?? name,
      schema,
    ]),
  );
  return {
    ...into,
    paths: { ...into.paths, ...moved.paths },
    components: { ...into.components, schemas: { ...known, ...schemas } },
  };
}

function withReferences(document: OpenApi, renamed: ReadonlyMap<string, string>): OpenApi {
  const text = JSON.stringify(document).replace(
    /"#\/components\/schemas\/([^"/]+)"/g,
    (reference, name: string) =>
      renamed.has(name) ? `"#/components/schemas/${renamed.get(name)}"` : reference,
  );
  return readOpenApi(text);
}

/** Says with JSON Schema 2020-12 what OpenAPI 3.0 says with `nullable`, which nothing but OpenAPI 3.0 understands. */
export function withoutNullable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullable);
  if (!isObject(value)) return value;
  const rest = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutNullable(each)]));
  // A property of this name is no boolean.
  if (typeof value.nullable !== "boolean") return rest;
  const { nullable, ...schema } = rest;
  return nullable === true ? { anyOf: [schema, { type: "null" }] } : schema;
}

/** OpenAI keeps examples of answers in a field of its own, `x-oaiMeta`; they are moved to where OpenAPI has them. */
export function withInlineExamples(document: OpenApi): OpenApi {
  // A copy of JSON, in which anything may be changed.
  const copy = structuredClone(document);
  for (const operations of Object.values(copy.paths)) {
    for (const operation of isObject(operations) ? Object.values(operations) : []) moveExamples(operation);
  }
  return copy;
}

function moveExamples(operation: unknown): void {
  const examples = at(operation, "x-oaiMeta", "examples");
  const content = at(operation, "responses", "200", "content");
  if (!Array.isArray(examples) || !isObject(content)) return;
  let streams = 0;
  for (const { title, response } of examples.filter(isObject)) {
    if (typeof response !== "string") continue;
    const isStream = response.startsWith("event:");
    const media = content[isStream ? "text/event-stream" : "application/json"];
    const value = isStream ? response : jsonIn(response);
    if (!isObject(media) || value === undefined) continue;
    const name = isStream ? `streaming-${++streams}` : String(title).toLowerCase().replaceAll(/\W+/g, "-");
    media.examples = { ...(isObject(media.examples) ? media.examples : {}), [name]: { value } };
  }
}

/** undefined for text that is no JSON: some examples leave parts out. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
