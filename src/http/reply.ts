import type { LogFields } from "../domain/ports/runtime.ts";

/** An HTTP answer before the headers that every answer has. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Blob | ReadableStream<Uint8Array> | null;
  /** Added to the request's log line. */
  readonly log?: LogFields | undefined;
}

const JSON_HEADERS = { "Content-Type": "application/json" } as const;

export function json(body: unknown, headers?: Readonly<Record<string, string>>, log?: LogFields): Reply {
  return {
    status: 200,
    headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers },
    body: JSON.stringify(body),
    log,
  };
}

/** The envelope of §2.1. */
export function success(data: unknown, headers?: Readonly<Record<string, string>>, log?: LogFields): Reply {
  return json({ code: 200, message: "success", data }, headers, log);
}
