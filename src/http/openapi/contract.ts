import type { ErrorCode } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";

/** A JSON Schema (2020-12). One with a `title` in PascalCase becomes a component of the published document, named by it. */
export type Schema = JsonObject;

/** Groups of endpoints, in the order the document lists them. */
export const TAGS = {
  Images: "Asynchronous image tasks.",
  Videos: "Asynchronous video tasks.",
  Tasks: "Tasks of both kinds: list, follow, cancel.",
  Callbacks: "What is posted at the end of tasks: what became of it, once more, and live.",
  "Synchronous images":
    "The images API that many clients speak: the answer holds the images. Calls take as long as the image does; use the long-request address where there is one, and a client timeout above the wait window.",
  Models: "What can be generated, with each model's own schema and price.",
  Account: "What a key may do and has used, and what a request would cost.",
  Files: "Stored results and inputs.",
  Management: "Accounts, API keys and management tokens, for operators.",
  Service: "Health, and this description.",
} as const;
export type Tag = keyof typeof TAGS;

/** Headers that answers may carry besides `X-Request-ID`, which all do. */
export type AnswerHeader =
  | "X-Request-Cost"
  | "X-Idempotent-Replay"
  | "X-Task-Id"
  | "Preference-Applied"
  | "ETag"
  | "Cache-Control"
  | "Last-Modified"
  | "Accept-Ranges"
  | "Content-Range"
  | "Content-Length";

/** What an endpoint answers with one status. */
export interface Answer {
  readonly description: string;
  /** By media type; an empty schema stands for bytes. Absent: no body. */
  readonly content?: Readonly<Record<string, Schema>>;
  readonly headers?: readonly AnswerHeader[];
  /** Server-sent events by name, with the schema of their data. */
  readonly events?: Readonly<Record<string, Schema>>;
}

/** A POST that the service sends after a call. */
export interface CallbackContract {
  readonly name: string;
  /** Runtime expression of the address. */
  readonly address: string;
  readonly description: string;
  readonly schema: Schema;
}

/** What an endpoint promises its callers: everything the published document says beyond method, path and access. */
export interface EndpointContract {
  /** Unique; generated clients name their methods after it. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Every parameter of the path. */
  readonly path?: Readonly<Record<string, Schema>>;
  /** An object schema whose properties are the parameters. */
  readonly query?: Schema;
  /** Request headers beyond the credential. */
  readonly headers?: Readonly<Record<string, Schema>>;
  /** Bodies by media type. */
  readonly body?: Readonly<Record<string, Schema>>;
  /** Whether `Idempotency-Key` is honoured. */
  readonly isIdempotent?: boolean;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Codes of its own. Those that follow from its credential, body and idempotency are added. */
  readonly errors?: readonly ErrorCode[];
  readonly callback?: CallbackContract;
}
