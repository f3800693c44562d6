import { expect } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { createAnswerCheck } from "../../helpers/openapi.ts";
import { openPublished } from "../../helpers/published.ts";
import { type PublishedService, startPublished } from "../openapi-service.ts";

/** What OpenAI publishes of its videos API; checked 2026-11-24. */
const published = openPublished("openai/openapi.json");

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly body: JsonObject;
}

interface Call {
  readonly method?: string;
  readonly body?: JsonObject | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

export interface VideosApi {
  readonly service: PublishedService;
  /** Sends a request below /compat/v1/videos, and checks the answer by the service's own document. */
  call(path: string, call?: Call): Promise<Answer>;
  /** The same below /v1, for what that API has no word for. */
  native(path: string, method?: string): Promise<JsonObject>;
  /** The video once it has ended. */
  ended(id: unknown): Promise<JsonObject>;
}

export async function startVideosApi(env: Readonly<Record<string, string>>): Promise<VideosApi> {
  const service = await startPublished(env);
  const checkAnswer = createAnswerCheck(service.document);
  const api: VideosApi = {
    service,
    async call(path, { body, method = "GET", headers = {}, key = service.key } = {}) {
      const target = `/compat/v1/videos${path}`;
      const isForm = body instanceof FormData;
      const response = await fetch(service.url + target, {
        method: body === undefined ? method : "POST",
        headers: {
          Authorization: `Bearer ${key}`,
          ...(body === undefined || isForm ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const isJson = response.headers.get("content-type") === "application/json";
      const text = isJson ? new TextDecoder().decode(bytes) : "";
      const sent = method === "GET" && body !== undefined ? "POST" : method;
      checkAnswer(sent, target, response.status, response.headers, text);
      const parsed: unknown = text === "" ? {} : JSON.parse(text);
      const read = isJsonObject(parsed) ? parsed : {};
      return { status: response.status, headers: response.headers, bytes, body: read };
    },
    async native(path, method = "GET") {
      const headers = { Authorization: `Bearer ${service.key}` };
      const response = await fetch(`${service.url}/v1${path}`, { method, headers });
      return ((await response.json()) as { readonly data: JsonObject }).data;
    },
    async ended(id) {
      await service.untilEnded(String(id));
      return (await api.call(`/${id}`)).body;
    },
  };
  return api;
}

export const errorOf = ({ status, body }: Answer) => {
  const error = isJsonObject(body.error) ? body.error : {};
  return { status, code: error.code, param: error.param, message: String(error.message) };
};

export function expectPublished(name: string, value: JsonObject): void {
  expect(published.problems(["components", "schemas", name], value)).toEqual([]);
}

/** That API publishes four sizes; models here have more, and the small ones are drawn faster. */
export const inPublishedSize = (video: JsonObject) => ({ ...video, size: "1280x720" });

export function form(fields: Readonly<Record<string, string | Blob>>): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  return made;
}
