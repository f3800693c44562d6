import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Model } from "../../domain/model/model.ts";
import { publishedSchema } from "../../domain/model/model-form.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import type { Endpoint } from "../exchange.ts";
import { CREATE_BODY } from "../generations/wire.ts";
import { type Properties, type Schema, text } from "../wire/schema.ts";
import { addGeneralErrors, responsesOf } from "./answers.ts";
import { type Components, createComponents, referenceTo } from "./components.ts";
import { type CallbackContract, TAGS } from "./contract.ts";
import { headerComponents } from "./headers.ts";
import { INTRODUCTION } from "./prose.ts";
import { SECURITY_SCHEMES, securityOf } from "./security.ts";

/** The OpenAPI 3.1 document of the endpoints and models, without `servers`, which differs by caller. */
export function describeService(
  endpoints: readonly Endpoint[],
  models: readonly Model[],
  version: string,
): JsonObject {
  const requests = new Map(models.map((model) => [model, componentName(model)]));
  const components = createComponents(
    new Map((["image", "video"] as const).map((kind) => [titleOf(kind), anyRequest(kind, requests)])),
  );
  for (const [model, name] of requests) components.add(name, requestSchema(model));
  addGeneralErrors(components);
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const endpoint of endpoints) {
    // OpenAPI has a field for this only since 3.2, so a description says it.
    if (endpoint.method === "QUERY") continue;
    const path = endpoint.path.replace(/\/:(\w+)\+?/g, "/{$1}");
    paths[path] ??= {};
    paths[path][endpoint.method.toLowerCase()] = describeEndpoint(endpoint, components);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Media generation service",
      version,
      description: INTRODUCTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      ...components.all(),
      headers: headerComponents(),
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function describeEndpoint(endpoint: Endpoint, components: Components): JsonObject {
  const { contract } = endpoint;
  const { callback } = contract;
  const parameters = parametersOf(endpoint, components);
  return {
    operationId: contract.id,
    tags: [contract.tag],
    summary: contract.summary,
    description: contract.description,
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: contract.body && bodyOf(contract, contract.body, components),
    responses: responsesOf(endpoint, components),
    callbacks: callback && { [callback.name]: describeCallback(callback, components) },
    security: securityOf(endpoint),
  };
}

const IDEMPOTENCY_KEY: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Makes it safe to send the request again: the same key with an equivalent body is answered like the first time. Kept for seven days, for this API key and path.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]+$" },
};

function parametersOf({ contract }: Endpoint, components: Components): JsonObject[] {
  const parameter =
    (place: string, isRequired: boolean) =>
    ([name, schema]: [string, Schema]): JsonObject => {
      const { description, ...rest } = schema;
      return { name, in: place, required: isRequired, description, schema: components.refer(rest) };
    };
  const query = isJsonObject(contract.query?.properties) ? contract.query.properties : {};
  const members = Object.entries(query).filter((entry): entry is [string, Schema] => isJsonObject(entry[1]));
  return [
    ...Object.entries(contract.path ?? {}).map(parameter("path", true)),
    ...members.map(parameter("query", false)),
    ...Object.entries(contract.headers ?? {}).map(parameter("header", false)),
    ...(contract.isIdempotent === true ? [referenceTo("parameters", "IdempotencyKey")] : []),
  ];
}

function bodyOf(
  { isBodyOptional = false }: Endpoint["contract"],
  body: Properties,
  components: Components,
): JsonObject {
  const content = Object.entries(body).map(([type, schema]) => {
    const { examples } = components.meaning(schema);
    const [example] = Array.isArray(examples) ? examples : [];
    return [type, { schema: components.refer(schema), example }];
  });
  return { required: !isBodyOptional, content: Object.fromEntries(content) };
}

function describeCallback({ address, description, schema }: CallbackContract, components: Components) {
  return {
    [address]: {
      post: {
        summary: "A task has ended",
        description,
        requestBody: {
          required: true,
          content: { "application/json": { schema: components.refer(schema) } },
        },
        responses: {
          "2XX": { description: "It is acknowledged; what the answer holds is not looked at." },
          default: { description: "It is sent again later, up to five times in total." },
        },
      },
    },
  };
}

function titleOf(kind: TaskKind): string {
  return String(CREATE_BODY[kind].title);
}

/** The smallest request that a model accepts. */
function exampleOf({ id, schema, mediaFields }: Model): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const values = required.map((name): [string, Json] => {
    const property = properties[name];
    if (name === "model") return [name, id];
    if (name === "prompt") return [name, "A lighthouse at dusk"];
    const media = mediaFields.find((field) => field.name === name);
    if (media !== undefined) {
      const url = `https://example.com/${media.media === "image" ? "image.png" : "video.mp4"}`;
      return [name, isJsonObject(property) && property.type === "array" ? [url] : url];
    }
    return [name, isJsonObject(property) ? anyValueOf(property) : null];
  });
  return Object.fromEntries(values);
}

function anyValueOf({ default: standard, enum: choices, minimum }: Schema): Json {
  return standard ?? (Array.isArray(choices) ? choices[0] : undefined) ?? minimum ?? "text";
}

/** The name of a model's schema among the components. */
function componentName(model: Model): string {
  return `Request.${model.id.replace(/[^A-Za-z0-9._-]/g, "_")}`;
}

/** A model's own schema, for its own id only, so that exactly one of all fits a body. */
function requestSchema(model: Model): Schema {
  const { $schema: _, ...rest } = publishedSchema(model);
  const { id, name } = model;
  const properties = isJsonObject(rest.properties) ? rest.properties : {};
  return {
    title: name,
    ...rest,
    properties: { ...properties, model: text("Id of the model.", { const: id }) },
  };
}

function anyRequest(kind: TaskKind, requests: ReadonlyMap<Model, string>): Schema {
  const ofKind = [...requests].filter(([model]) => model.kind === kind);
  if (ofKind.length === 0) return CREATE_BODY[kind];
  return {
    title: titleOf(kind),
    description: "An alias may stand for the id of the model.",
    examples: ofKind.map(([model]) => exampleOf(model)),
    oneOf: ofKind.map(([, name]) => referenceTo("schemas", name)),
    discriminator: {
      propertyName: "model",
      mapping: Object.fromEntries(ofKind.map(([model, name]) => [model.id, `#/components/schemas/${name}`])),
    },
  };
}
