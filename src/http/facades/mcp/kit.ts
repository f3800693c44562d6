/* The one place that uses the Model Context Protocol's own kit. It is loaded with the first request, because most services get none. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  type Implementation,
  InitializeRequestSchema,
  type InitializeResult,
  LATEST_PROTOCOL_VERSION,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
  type Request as RpcRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/sdk/types.js";
import type { Json, JsonObject } from "../../../domain/json.ts";
import { asEarlier, complete, discovery, isStateless, NOT_KEPT, statelessRefusal } from "./stateless.ts";
import type { Tool, ToolResult } from "./tool.ts";
import { INSTRUCTIONS } from "./tools.ts";

/** A call as the protocol names it. */
export interface KitCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly requestId: string | number;
  /** Does nothing where the client does not want to know. */
  readonly progress: (percent: number, message: string) => Promise<void>;
}

export interface KitOptions {
  readonly request: Request;
  /** Of this service. */
  readonly version: string;
  /** One message, or a batch of them. */
  readonly messages: Json;
  /** Whether the answer begins at once and may last, as a stream of events. */
  readonly isStream: boolean;
  readonly tools: () => readonly Tool[];
  /** @returns undefined for a tool that is not known */
  readonly call: (call: KitCall) => Promise<ToolResult | "cancelled" | undefined>;
  readonly onError: (error: Error) => void;
}

/** How often a stream shows a sign of life: proxies close connections that are silent for about a minute. */
const KEEP_ALIVE_MS = 15_000;

const CAPABILITIES = { tools: {} };

/**
 * Answers what a session begins with. A client that leaves out what it can, or what it is called, can nothing of it and has no name:
 * nothing here depends on either.
 */
function agreed({ params }: RpcRequest, serverInfo: Implementation): InitializeResult {
  const told = { capabilities: {}, clientInfo: { name: "", version: "" }, ...params };
  const parsed = InitializeRequestSchema.safeParse({ method: "initialize", params: told });
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join(".");
    throw new McpError(
      ErrorCode.InvalidParams,
      `initialize takes protocolVersion, capabilities and clientInfo; ${path} is missing, or not what it must be.`,
    );
  }
  const { protocolVersion: asked } = parsed.data.params;
  const protocolVersion = SUPPORTED_PROTOCOL_VERSIONS.includes(asked) ? asked : LATEST_PROTOCOL_VERSION;
  return { protocolVersion, capabilities: CAPABILITIES, serverInfo, instructions: INSTRUCTIONS };
}

/**
 * Answers one HTTP request of the protocol. Nothing is kept for the next one.
 * @returns the answer; of a stream, its beginning
 */
export async function answerMessages(options: KitOptions): Promise<Response> {
  const { request, messages, isStream } = options;
  const isNew = isStateless(request, messages);
  const refusal = isNew ? statelessRefusal(request, messages) : undefined;
  if (refusal !== undefined) return Response.json(refusal.error, { status: refusal.status });
  const finish = <T extends object>(result: T): T => (isNew ? complete(result, options.version) : result);
  const info = { name: "svc", version: options.version };
  const server = new Server(info, { capabilities: CAPABILITIES, instructions: INSTRUCTIONS });
  server.onerror = options.onError;
  server.setRequestHandler(ListToolsRequestSchema, () =>
    finish({ tools: options.tools().map(toolForm), ...(isNew && NOT_KEPT) }),
  );
  // The kit answers a request that does not fit its schema with an internal error.
  server.removeRequestHandler("initialize");
  server.fallbackRequestHandler = async (given, { requestId, sendNotification }) => {
    if (isNew && given.method === "server/discover")
      return finish({ ...discovery(INSTRUCTIONS), ...NOT_KEPT });
    if (given.method === "initialize") return agreed(given, info);
    if (given.method !== "tools/call") throw new McpError(ErrorCode.MethodNotFound, "Method not found");
    const parsed = CallToolRequestSchema.safeParse(given);
    if (!parsed.success)
      throw new McpError(ErrorCode.InvalidParams, "tools/call takes a name and an object of arguments.");
    const { name, arguments: args = {}, _meta } = parsed.data.params;
    const progressToken = _meta?.progressToken;
    const result = await options.call({
      ...{ name, requestId },
      // The schema has checked that it is an object, and it came as JSON.
      args: args as JsonObject,
      async progress(progress, message) {
        if (progressToken === undefined || !isStream) return;
        const progressed = { progressToken, progress, total: 100, message };
        await sendNotification({ method: "notifications/progress", params: progressed });
      },
    });
    if (result === undefined)
      throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 80)}`);
    if (result !== "cancelled") return finish(answerOf(result));
    // A request that was cancelled gets no answer: its stream ends without one. In a batch, others still wait for theirs.
    if (isStream && !Array.isArray(messages)) await server.close();
    return answerOf({ content: [], isError: true });
  };
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: !isStream,
    keepAliveMs: KEEP_ALIVE_MS,
  });
  await server.connect(transport);
  return transport.handleRequest(isNew ? asEarlier(request) : request, { parsedBody: messages });
}

function toolForm({ hints, ...tool }: Tool): ListToolsResult["tools"][number] {
  // Both schemas are of objects, which their type here does not say.
  return { ...tool, annotations: hints } as ListToolsResult["tools"][number];
}

function answerOf({ content, structured, isError }: ToolResult) {
  return {
    content: content.map((each) => ({ ...each })),
    ...(structured && { structuredContent: structured as Record<string, unknown> }),
    ...(isError && { isError }),
  };
}
