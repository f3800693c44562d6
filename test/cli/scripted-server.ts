/** One request as the scripted server got it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface ScriptedServer extends Disposable {
  readonly url: string;
  /** In the order they came. */
  readonly seen: readonly Seen[];
  /** Those of one path, without their query. */
  at(path: string): Seen[];
}

export type Script = Readonly<Record<string, (seen: Seen, times: number) => Response | Promise<Response>>>;

/** A server on this machine that answers `METHOD /path` as the script says, and remembers what it was asked. */
export function startScriptedServer(script: Script): ScriptedServer {
  const seen: Seen[] = [];
  const at = (path: string) => seen.filter((each) => each.path.split("?")[0] === path);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const text = await request.text();
      const each = {
        method: request.method,
        path: url.pathname + url.search,
        headers: request.headers,
        body: text === "" ? undefined : JSON.parse(text),
      };
      seen.push(each);
      const answer = script[`${request.method} ${url.pathname}`];
      return (
        answer?.(each, at(url.pathname).length) ??
        refusal(404, "not_found", `There is nothing at ${url.pathname}.`)
      );
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    at,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

export function success(data: object, headers: Record<string, string> = {}): Response {
  return Response.json(
    { code: 200, message: "success", data },
    { headers: { "X-Request-ID": "req_1", ...headers } },
  );
}

/** The standard envelope of docs/api.md 3.2. */
export function refusal(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
  param?: string,
): Response {
  const body = { code: status, message, data: { type: "invented_error", error_code: code, param } };
  return Response.json(body, { status, headers: { "X-Request-ID": "req_1", ...headers } });
}

/** The envelope of authentication errors. */
export function compatRefusal(status: number, code: string, message: string): Response {
  return Response.json(
    { error: { message, type: "invented_error", code } },
    { status, headers: { "X-Request-ID": "req_1" } },
  );
}

/** Fields of every type a create body can ask for. */
export const MODEL = {
  id: "image-1",
  kind: "image",
  name: "Image One",
  description: "Invented.",
  modes: ["text-to-image"],
  price: { currency: "USD", version: "1", lines: [{ sku: "image-1", unit: "output", amount: "0.040000" }] },
  schema: {
    type: "object",
    required: ["model", "prompt"],
    properties: {
      model: { type: "string" },
      prompt: { type: "string", description: "What to make." },
      n: { type: "integer", minimum: 1, maximum: 10, default: 1 },
      strength: { type: ["number", "null"] },
      upscale: { type: "boolean" },
      resolution: { type: "string", enum: ["512", "1K"] },
      image_url: {
        anyOf: [
          { type: "string", format: "uri" },
          { type: "string", pattern: "^data:" },
        ],
      },
      image_urls: { type: "array", items: { type: "string" } },
      options: { $ref: "#/$defs/options" },
    },
    $defs: { options: { type: "object" } },
  },
} as const;

/** `GET /v1/models/image-1` and a create that accepts everything. */
export const ACCEPTING: Script = {
  "GET /v1/models/image-1": () => success(MODEL),
  "POST /v1/images/generations": () => success({ task_id: "task_1" }, { "X-Request-Cost": "0.040000" }),
};
