import type { ErrorCode } from "../../domain/errors.ts";
import { closed, integer, type Properties, type Schema, text } from "../wire/schema.ts";
import type { HeaderName } from "./headers.ts";

/** Groups of endpoints, in the order the document lists them. */
export const TAGS = {
  Images: "Asynchronous image tasks.",
  Videos: "Asynchronous video tasks.",
  Tasks: "Tasks of both kinds: list, read in full, follow, cancel, retry, delete.",
  Callbacks: "What is posted at the end of tasks: what became of it, once more, and live.",
  "Synchronous images":
    "The images API that many clients speak: the answer holds the images. Calls take as long as the image does; use the long-request address where there is one, and a client timeout above the wait window.",
  "Compatible videos":
    "The videos API that clients of OpenAI's speak. A video is a task: it can be read, followed and cancelled as any other.",
  fal: "The API that fal's clients speak, with its queue. A request is a task.",
  Gemini:
    "Google's Gemini API: pictures while the caller waits, videos as operations, and their files. Its paths below `/gemini/v1` and `/gemini/v1beta1` are the same.",
  Agents: "Tools for agents, by the Model Context Protocol.",
  "Compatible image engine":
    "The API of AUTOMATIC1111's web UI, which plug-ins and chat programs draw through. What a client sets, and what it asks and ends, is its key's alone.",
  "Replicate predictions":
    "The predictions API that Replicate's clients speak. A prediction is a task: it can be read, followed and cancelled as any other.",
  Models: "What can be generated, with each model's own schema and price.",
  Account: "What a key may do and has used, and what a request would cost.",
  Files: "Stored results and inputs.",
  Management: "Accounts, API keys and management tokens, for operators.",
  Console: "The page at `/console`, and coming in there.",
  Service: "Health, and this description.",
} as const;
export type Tag = keyof typeof TAGS;

/** What an endpoint answers with one status. */
export interface Answer {
  readonly description: string;
  /** Schemas by media type; an empty schema stands for bytes. Absent: no body. */
  readonly content?: Properties;
  /** Headers besides `X-Request-ID` and those that follow from the status. */
  readonly headers?: readonly HeaderName[];
  /** Server-sent events by name, with the schema of their data. */
  readonly events?: Properties;
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
  readonly path?: Properties;
  /** An object schema whose properties are the parameters. */
  readonly query?: Schema;
  /** Request headers beyond the credential. */
  readonly headers?: Properties;
  /** Bodies by media type. */
  readonly body?: Properties;
  /** Whether a request without a body is fine. */
  readonly isBodyOptional?: boolean;
  /** Whether `Idempotency-Key` is honoured. */
  readonly isIdempotent?: boolean;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Error codes of its own. Codes that follow from its credential, body and idempotency are added. */
  readonly errors?: readonly ErrorCode[];
  readonly callback?: CallbackContract;
}

export const contract = (
  id: string,
  tag: Tag,
  summary: string,
  more: Omit<EndpointContract, "id" | "tag" | "summary">,
): EndpointContract => ({ id, tag, summary, ...more });

export const jsonBody = (schema: Schema) => ({ "application/json": schema });

export function jsonAnswer(description: string, schema: Schema, headers?: readonly HeaderName[]): Answer {
  return { description, content: jsonBody(schema), ...(headers && { headers }) };
}

/** The one answer of an endpoint: data in the envelope of docs/api.md 3.1. */
export function succeeds(description: string, data: Schema, headers?: readonly HeaderName[]) {
  const envelope = closed({
    code: integer("The HTTP status.", { const: 200 }),
    message: text("Always `success`.", { const: "success" }),
    data,
  });
  return { 200: jsonAnswer(description, envelope, headers) };
}
