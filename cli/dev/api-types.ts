/*
 * TypeScript of a published OpenAPI document: what its components look like, and what each endpoint takes and answers.
 */

type Schema = Readonly<Record<string, unknown>>;
interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema?: Schema }>>;
  };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}
interface Content {
  readonly schema?: Schema;
  readonly "x-events"?: Readonly<Record<string, Schema>>;
}
/** As much of a document as is read. */
export interface Published {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const HEAD = `/* Written by \`bun run console:types\` from the service's own description. */
`;
/** The schemas of models' requests differ between servers; a page reads them when it runs. */
const OF_MODELS = /^Request\.|^Create(?:Image|Video)Task$/;
const JSON_TYPE = "application/json";

/** The text of a module with `Schemas`, `Operations` and `Streams`. The same document makes the same text. */
export function typesOf({ paths, components }: Published): string {
  const schemas = Object.entries(components.schemas)
    .filter(([name]) => !OF_MODELS.test(name))
    .map(([name, schema]) => `  ${name}: ${typeOf(schema, "  ")};`);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const ofData = operations.flatMap(({ name, operation }) => {
    const data = dataOf(operation);
    return data === undefined ? [] : [`  "${name}": ${operationType(operation, data)};`];
  });
  const streams = operations.flatMap(({ name, operation }) => {
    const events = operation.responses[200]?.content?.["text/event-stream"]?.["x-events"];
    if (events === undefined) return [];
    const members = Object.entries(events).map(
      ([event, schema]) => `    ${memberName(event)}: ${typeOf(schema, "    ")};`,
    );
    return [`  "${name}": {\n${members.join("\n")}\n  };`];
  });
  return [
    HEAD,
    "/** The components of the document. */\nexport interface Schemas {",
    ...schemas,
    "}\n",
    "/** What each endpoint with a JSON answer takes, and the data of its answer. */\nexport interface Operations {",
    ...ofData,
    "}\n",
    "/** The events of each stream. */\nexport interface Streams {",
    ...streams,
    "}\n",
  ].join("\n");
}

/** What an endpoint answers with, without the envelope that most have. */
function dataOf({ responses }: Operation): Schema | undefined {
  const schema = responses[200]?.content?.[JSON_TYPE]?.schema;
  const { code, data } = (schema?.properties ?? {}) as Record<string, Schema>;
  return code?.const === 200 && data !== undefined ? data : schema;
}

function operationType({ parameters = [], requestBody }: Operation, data: Schema): string {
  const inPlace = (place: string) => {
    const members = parameters
      .filter((parameter) => parameter.in === place)
      .map(
        ({ name, required, schema }) =>
          `${memberName(name)}${required ? "" : "?"}: ${typeOf(schema, "    ")}`,
      );
    return members.length === 0 ? [] : [`    ${place}: { ${members.join("; ")} };`];
  };
  const body = requestBody?.content[JSON_TYPE]?.schema;
  const members = [
    ...inPlace("path"),
    ...inPlace("query"),
    ...(body === undefined
      ? []
      : [`    body${requestBody?.required === true ? "" : "?"}: ${typeOf(body, "    ")};`]),
    `    data: ${typeOf(data, "    ")};`,
  ];
  return `{\n${members.join("\n")}\n  }`;
}

function typeOf(schema: Schema, indent: string): string {
  const { $ref, type, anyOf, oneOf } = schema;
  if (typeof $ref === "string") {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    return OF_MODELS.test(name) ? "Record<string, unknown>" : `Schemas["${name}"]`;
  }
  const values = schema.enum ?? ("const" in schema ? [schema.const] : undefined);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  const choices = oneOf ?? anyOf;
  if (Array.isArray(choices) && schema.properties === undefined)
    return choices.map((each: Schema) => typeOf(each, indent)).join(" | ");
  if (Array.isArray(type)) return type.map((each) => typeOf({ ...schema, type: each }, indent)).join(" | ");
  switch (type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return `readonly (${schema.items === undefined ? "unknown" : typeOf(schema.items as Schema, indent)})[]`;
    case "object":
      return objectType(schema, indent);
    default:
      return "unknown";
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries((properties ?? {}) as Record<string, Schema>).map(([name, schema]) => {
    const isRequired = (required as readonly string[]).includes(name);
    const { description } = schema;
    const comment =
      typeof description === "string" && description !== ""
        ? `${inner}/** ${description.replace(/\s+/g, " ").replaceAll("*/", "*\\/")} */\n`
        : "";
    return `${comment}${inner}${memberName(name)}${isRequired ? "" : "?"}: ${typeOf(schema, inner)};`;
  });
  if (members.length > 0) return `{\n${members.join("\n")}\n${indent}}`;
  const isTyped = typeof additionalProperties === "object" && additionalProperties !== null;
  return `Record<string, ${isTyped ? typeOf(additionalProperties as Schema, indent) : "unknown"}>`;
}

function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
