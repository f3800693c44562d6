/** What the load generator is asked to do once. Sent to its process as JSON. */
export interface LoadPlan {
  readonly port: number;
  /** Keep-alive connections, each with one request under way at a time. */
  readonly connections: number;
  /** Whole HTTP requests, sent in turn. Every `UNIQUE` in one is replaced by as many characters never sent before. */
  readonly requests: readonly string[];
  /** What a right answer is; 200 with a body, unless it is said otherwise. */
  readonly answer?: { readonly status: number; readonly hasBody: boolean };
  readonly until:
    | { readonly kind: "responses"; readonly count: number }
    | { readonly kind: "time"; readonly ms: number };
}

export interface LoadResult {
  readonly responses: number;
  /** Answers of another status than was expected, and the first of them. */
  readonly refused: number;
  readonly firstRefusal?: string | undefined;
  /** From the first request to the last answer. */
  readonly elapsedMs: number;
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export type LoadAnswer =
  | { readonly kind: "result"; readonly result: LoadResult }
  | { readonly kind: "failure"; readonly message: string };

/** Stands for 16 characters that differ in every request. */
export const UNIQUE = "@@@@@@@@@@@@@@@@";

/** The text of one HTTP/1.1 request. */
export function requestText(request: {
  readonly method: "GET" | "HEAD" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}): string {
  const { method, path, headers = {}, body } = request;
  const lines = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1", "Accept: */*"];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) {
    lines.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}
