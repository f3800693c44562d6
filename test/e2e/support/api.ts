import type { JsonObject } from "../../../src/domain/json.ts";
import { answerCheckOf } from "../../helpers/openapi.ts";

/** What may stand in `data` of an answer. */
export interface WireData {
  readonly task_id?: string;
  readonly status?: string;
  readonly progress?: number;
  readonly queue_position?: number;
  readonly result?: readonly string[];
  readonly created_at?: number;
  readonly completed_at?: number;
  readonly model?: string;
  readonly error_code?: string;
  readonly error_message?: string;
  readonly error?: string;
  readonly type?: string;
  readonly param?: string;
  readonly usage?: { readonly cost: string; readonly currency: string };
  readonly tasks?: readonly WireData[];
  readonly next?: string | null;
  readonly models?: readonly { readonly id: string; readonly kind: string }[];
}

/** Both envelopes at once; each test asserts the one it expects. */
export interface WireBody {
  readonly code?: number;
  readonly message?: string;
  readonly data?: WireData;
  readonly error?: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    readonly param?: string;
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: WireBody;
  /** `data` of the body, empty when it has none. */
  readonly data: WireData;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; an object goes out as JSON. */
  readonly body?: string | Uint8Array<ArrayBuffer> | JsonObject;
}

export interface Api {
  readonly url: string;
  readonly key: string;
  send(path: string, sent?: Sent): Promise<Answer>;
  /** POSTs a create to the path of its model's kind. */
  create(body: JsonObject, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Creates a task that must be accepted. @returns its id */
  accept(body: JsonObject, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** Reads a task when it has ended, or after `waitSec` where that is given. */
  wait(id: string, kind?: "image" | "video", waitSec?: number): Promise<WireData>;
  /** Resolves when an image task is with its upstream. @throws Error when it is not, within half a minute */
  underWay(id: string): Promise<void>;
  /** Creates a task and waits for its end. */
  make(body: JsonObject): Promise<WireData & { readonly task_id: string }>;
}

const UNDER_WAY_TRIES = 600;

export const kindOf = (model: unknown) => (String(model).startsWith("sandbox-video") ? "video" : "image");

/** Talks to a server as any client would, one connection a request. Every answer must be one that the server's document promises. */
export function createApi(url: string, key: string): Api {
  const api: Api = {
    url,
    key,
    async send(path, { method, headers, body } = {}) {
      const isRaw = typeof body === "string" || body instanceof Uint8Array;
      const verb = method ?? (body === undefined ? "GET" : "POST");
      const checkAnswer = await answerCheckOf(url);
      const response = await fetch(url + path, {
        method: verb,
        headers: {
          Authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
        keepalive: false,
        redirect: "manual",
        ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
      });
      const answer = await toAnswer(response);
      checkAnswer(verb, path, answer.status, answer.headers, answer.text);
      return answer;
    },
    create: (body, headers) =>
      api.send(`/v1/${kindOf(body.model)}s/generations`, {
        body,
        ...(headers === undefined ? {} : { headers }),
      }),
    async accept(body, headers) {
      const { status, text, data } = await api.create(body, headers);
      if (status !== 200 || data.task_id === undefined) throw new Error(`Not accepted: ${status} ${text}`);
      return data.task_id;
    },
    async wait(id, kind = "image", waitSec) {
      for (;;) {
        const { status, text, data } = await api.send(`/v1/${kind}s/status/${id}?wait=${waitSec ?? 30}`);
        if (status !== 200) throw new Error(`No status: ${status} ${text}`);
        // A server's own limit on waiting may be shorter than the task takes.
        if (waitSec !== undefined || (data.status !== "pending" && data.status !== "processing")) return data;
      }
    },
    async underWay(id) {
      for (let tries = 0; tries < UNDER_WAY_TRIES; tries++) {
        if ((await api.wait(id, "image", 0.05)).status === "processing") return;
      }
      throw new Error(`${id} is not under way.`);
    },
    async make(body) {
      const id = await api.accept(body);
      return { ...(await api.wait(id, kindOf(body.model))), task_id: id };
    },
  };
  return api;
}

async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
  // Every field of WireBody is optional, and tests compare what they read.
  const body = (isJson ? JSON.parse(text) : {}) as WireBody;
  return { status: response.status, headers: response.headers, text, body, data: body.data ?? {} };
}

/** The bytes behind a result URL. @throws Error for anything but 200 */
export async function download(url: string | undefined): Promise<Uint8Array<ArrayBuffer>> {
  if (url === undefined) throw new Error("There is no such result.");
  const response = await fetch(url, { keepalive: false });
  if (response.status !== 200) throw new Error(`${url} answers ${response.status}.`);
  return new Uint8Array(await response.arrayBuffer());
}
