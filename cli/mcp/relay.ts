import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { isAnswerLost } from "../client/raw.ts";
import type { LocalFiles } from "./local-files.ts";
import type { Saver } from "./saver.ts";

/** Answers a message by those of the server. The last one is the answer to a request, unless the connection was lost. */
export type Send = (message: JsonObject) => AsyncIterable<JsonObject>;

export interface RelayOptions {
  /** Messages of the agent, one a line. */
  readonly lines: AsyncIterable<string>;
  readonly send: Send;
  /** Takes a message to the agent. */
  readonly write: (message: JsonObject) => void;
  /** Tells people what went wrong. */
  readonly warn: (text: string) => void;
  readonly files: LocalFiles;
  /** Absent where results are not saved. */
  readonly saver?: Saver | undefined;
  /** After the agent has closed its end, waits for the requests under way. */
  readonly linger: (underWay: Promise<unknown>) => Promise<void>;
}

/** Of JSON-RPC: the server's own, and for what is no JSON (https://www.jsonrpc.org/specification, checked 2026-11-27). */
const SERVER_ERROR = -32_000;
const PARSE_ERROR = -32_700;

/**
 * Passes messages between an agent and a server until the agent closes its end. Requests are under way at the same time, but for the
 * first one, whose answer the others need.
 */
export async function relay(options: RelayOptions): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const cancelled = new Set<string>();
  for await (const line of options.lines) {
    if (line.trim() === "") continue;
    const message = parsed(line);
    if (message === undefined) {
      options.write(errorFor(null, PARSE_ERROR, "This line is no message in JSON."));
      continue;
    }
    if (message.method === "notifications/cancelled" && isJsonObject(message.params))
      cancelled.add(JSON.stringify(message.params.requestId));
    const work = answer(options, message, cancelled).finally(() => underWay.delete(work));
    underWay.add(work);
    if (message.method === "initialize") await work;
  }
  await options.linger(Promise.all(underWay));
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function answer(
  options: RelayOptions,
  message: JsonObject,
  cancelled: ReadonlySet<string>,
): Promise<void> {
  const { write, warn, files } = options;
  const { id, method } = message;
  const isRequest = id !== undefined && typeof method === "string";
  let isAnswered = false;
  try {
    const taken = await files.take(message);
    if (taken.refusal !== undefined) return write({ jsonrpc: "2.0", id, result: taken.refusal });
    for await (const each of options.send(taken.message)) {
      const isAnswer = isRequest && each.id === id && each.method === undefined;
      isAnswered ||= isAnswer;
      write(isAnswer ? await finished(options, message, each) : each);
    }
    if (isRequest && !isAnswered && !cancelled.has(JSON.stringify(id)))
      write(errorFor(id, SERVER_ERROR, LOST));
  } catch (error) {
    const text = isAnswerLost(error) ? LOST : error instanceof Error ? error.message : String(error);
    if (isRequest && !isAnswered) write(errorFor(id, SERVER_ERROR, text));
    else warn(text);
  }
}

const LOST =
  "The connection was lost before the answer. What the call began goes on: repeat it only with the same idempotency_key.";

/** The agent gets this instead of the server's answer. */
async function finished(
  { files, saver }: RelayOptions,
  { method }: JsonObject,
  answered: JsonObject,
): Promise<JsonObject> {
  const { result } = answered;
  if (!isJsonObject(result)) return answered;
  if (method === "tools/list") return { ...answered, result: files.describe(result) };
  if (method !== "tools/call" || saver === undefined) return answered;
  return { ...answered, result: await saver(result) };
}

function errorFor(id: Json, code: number, message: string): JsonObject {
  return { jsonrpc: "2.0", id, error: { code, message } };
}
