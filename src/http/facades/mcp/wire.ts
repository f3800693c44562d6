import { contract, jsonAnswer, jsonBody } from "../../openapi/contract.ts";
import type { Schema } from "../../wire/schema.ts";
import { RPC_ERROR } from "./manners.ts";

const MESSAGE: Schema = {
  title: "McpMessage",
  description: "A message of JSON-RPC 2.0, as the Model Context Protocol has it.",
  type: "object",
  required: ["jsonrpc"],
  properties: {
    jsonrpc: { type: "string", const: "2.0" },
    id: { type: ["string", "integer"] },
    method: { type: "string", examples: ["tools/list"] },
    params: { type: "object" },
    result: { type: "object" },
    error: { type: "object" },
  },
  examples: [{ jsonrpc: "2.0", id: 1, method: "tools/list" }],
};

const MESSAGES: Schema = {
  title: "McpMessages",
  anyOf: [MESSAGE, { type: "array", items: MESSAGE, minItems: 1, maxItems: 100 }],
};

export const ANSWER_MCP = contract("answerMcp", "Agents", "Call tools by the Model Context Protocol", {
  description:
    "Streamable HTTP, without sessions to keep: `initialize`, `ping`, `tools/list` and `tools/call`; in version 2026-07-28, which tells its version in `_meta` and in headers, `server/discover` in place of the first two. Batches are taken up to version 2025-03-26 of the protocol. A call that waits is answered by a stream of events, with progress notifications for clients that ask for them; everything else by JSON. `GET` and `DELETE` answer 405, as that protocol has it for servers that have nothing to say by themselves.",
  body: jsonBody(MESSAGES),
  answers: {
    200: {
      description: "The answer, or the answers to a batch.",
      content: { "application/json": MESSAGES },
      events: { message: MESSAGE },
      headers: ["X-Request-Cost"],
    },
    202: { description: "Only notifications came; they are taken." },
    404: jsonAnswer(
      "Version 2026-07-28 of the protocol has no such method, or it is not spoken here.",
      RPC_ERROR,
    ),
    406: jsonAnswer("`Accept` must name `application/json` and `text/event-stream`.", RPC_ERROR),
  },
  errors: ["invalid_request", "permission_denied"],
});
