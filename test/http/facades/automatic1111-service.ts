import { isJsonObject, type Json, type JsonObject } from "../../../src/domain/json.ts";
import { type CheckAnswer, createAnswerCheck } from "../../helpers/openapi.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed. */
  readonly body: Json;
  readonly text: string;
}

export interface Call {
  readonly method?: string;
  readonly body?: JsonObject;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A service in this process, and calls of it whose answers are checked by its own document. */
export interface Engine extends PublishedService {
  call(path: string, call?: Call): Promise<Answer>;
  /** The same below /v1, without its envelope. */
  native(path: string, key?: string): Promise<JsonObject>;
}

/** @param models texts of its own models, by their ids */
export async function startEngine(
  env: Readonly<Record<string, string>> = {},
  models: Readonly<Record<string, string>> = {},
): Promise<Engine> {
  const service = await startPublished(env, undefined, models);
  const checkAnswer: CheckAnswer = createAnswerCheck(service.document);
  const basic = (key: string) => `Basic ${Buffer.from(`user:${key}`).toString("base64")}`;
  return Object.assign(service, {
    async call(
      path: string,
      { body, key = service.key, headers = {}, signal, ...given }: Call = {},
    ): Promise<Answer> {
      const { method = body === undefined ? "GET" : "POST" } = given;
      const response = await fetch(service.url + path, {
        method,
        headers: {
          Authorization: basic(key),
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
      const text = await response.text();
      checkAnswer(method, path, response.status, response.headers, text);
      return { status: response.status, headers: response.headers, body: JSON.parse(text) as Json, text };
    },
    async native(path: string, key = service.key): Promise<JsonObject> {
      const response = await fetch(`${service.url}/v1${path}`, {
        headers: { Authorization: `Bearer ${key}` },
      });
      return ((await response.json()) as { readonly data: JsonObject }).data;
    },
  });
}

export const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** What an answer says in its `info`. */
export const infoOf = ({ body }: Answer): JsonObject => JSON.parse(String(objectOf(body).info)) as JsonObject;

/** The pictures of an answer. */
export function imagesOf({ body }: Answer): Uint8Array<ArrayBuffer>[] {
  const { images } = objectOf(body);
  return Array.isArray(images)
    ? images.map((each) => new Uint8Array(Buffer.from(String(each), "base64")))
    : [];
}

/** A model of the sandbox that has what models of image engines have. */
export const OWN_MODEL = `id: my-engine
kind: image
name: Mine
description: Has the parameters of an image engine.
modes: [{ id: text-to-image, requires: [] }, { id: image-to-image, requires: [image] }]
schema:
  required: [prompt]
  properties:
    prompt: { type: string }
    negative_prompt: { type: string }
    steps: { type: integer, minimum: 1, maximum: 30 }
    guidance_scale: { type: number, minimum: 1, maximum: 5 }
    sampler: { type: string, enum: [euler_a, dpmpp_2m] }
    strength: { type: number, minimum: 0, maximum: 1 }
    aspect_ratio: { type: string, enum: ["1:1", "16:9"] }
    image_url: { description: An image. }
shared: [seed, sandbox]
media:
  image_url: { role: image, media: image }
price:
  lines: [{ sku: my-engine, unit: output, amount: "0.020000" }]
deadline_seconds: 60
routes: [{ provider: sandbox, upstream_model: picture }]
`;
