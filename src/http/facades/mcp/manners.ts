import { type AppError, ERROR_CODES } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { closed, integer, list, openEnum, type Schema, text } from "../../wire/schema.ts";
import type { Manners } from "../manners.ts";

/** The code of JSON-RPC for an error that the server defines (https://www.jsonrpc.org/specification, checked 2026-11-27). */
const SERVER_ERROR = -32_000;
/** A message that cannot be one, or not one here. */
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
export const INVALID_PARAMS = -32_602;
const PARSE_ERROR = -32_700;
const UNREADABLE = ["body_not_json", "body_not_utf8"];

/** An error that is no answer to a request in particular. */
export function rpcError(code: number, message: string, data?: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id: null, error: { code, message, ...(data && { data }) } };
}

export const RPC_ERROR: Schema = closed({
  jsonrpc: text("", { const: "2.0" }),
  id: {
    type: ["string", "integer", "null"],
    description: "Of the request that it answers; null where that is not known.",
  },
  error: closed(
    {
      code: integer("Of JSON-RPC."),
      message: text("For people."),
      data: closed(
        {
          code: openEnum(ERROR_CODES, "Of this service."),
          param: text("What is at fault."),
          supported: list(text("A version of the protocol."), {
            description: "Those that can be asked for instead.",
          }),
          requested: text("The version of the protocol that was asked for."),
        },
        { optional: ["param", "supported", "requested"] },
      ),
    },
    { optional: ["data"] },
  ),
});

/** Errors below `/mcp` that concern the whole HTTP request. */
export const MCP_MANNERS: Manners = {
  ...{ name: "mcp", base: "/mcp", schemes: [], schema: RPC_ERROR },
  tell: ({ code, message, param, facts }: AppError) => ({
    body: rpcError(UNREADABLE.includes(facts.kind) ? PARSE_ERROR : SERVER_ERROR, message, {
      code,
      ...(param !== undefined && { param }),
    }),
  }),
};
