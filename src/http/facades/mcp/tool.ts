import type { Json, JsonObject } from "../../../domain/json.ts";
import type { InlineFiles } from "../../../service/inline-files.ts";
import type { KeyedExchange } from "../../exchange.ts";
import type { ReplyLog } from "../../reply.ts";

/** What a tool answers with, as the Model Context Protocol has it. */
export type Content =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  | {
      readonly type: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly mimeType: string;
      readonly size?: number;
    };

export interface ToolResult {
  readonly content: readonly Content[];
  /** As the tool's output schema has it. */
  readonly structured?: JsonObject | undefined;
  readonly isError?: true | undefined;
}

/** One call of a tool. */
export interface ToolCall {
  readonly exchange: KeyedExchange;
  readonly args: JsonObject;
  /** Data URIs of the arguments that were decoded while they arrived. They go once the call is accepted, or over. */
  readonly inlineFiles: InlineFiles | undefined;
  /** Aborts when the client cancels the call. One that merely leaves does not, but for the version of the protocol in which that cancels. */
  readonly cancelled: AbortSignal;
  /** Tells the client how far it is, where it wants to know. */
  readonly progress: (percent: number, message: string) => Promise<void>;
  /** The task is stored: what comes now only waits. */
  readonly accepted: (log: ReplyLog, cost: string) => void;
}

/** What an agent may assume about a tool (its annotations). */
export interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** A tool as one key is offered it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  readonly hints: Hints;
}

/** A tool before it is adapted to a key. */
export interface ToolKind<Deps> {
  readonly name: string;
  /** Whether a call with these arguments may wait for a task. */
  readonly mayWait: (args: Json | undefined) => boolean;
  /** The tool as the caller is offered it; undefined where it has no use for it. */
  readonly offer: (deps: Deps, exchange: KeyedExchange) => Tool | undefined;
  /** @throws AppError for what the agent can repair */
  readonly run: (deps: Deps, call: ToolCall) => Promise<ToolResult>;
}

/** A result whose text says the same as its structured content, for clients that read only text. */
export function structuredResult(structured: JsonObject, more: readonly Content[] = []): ToolResult {
  return { content: [...more, { type: "text", text: JSON.stringify(structured) }], structured };
}

/** A tool that changes nothing. */
export const READS: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
