export interface ReplyLog {
  readonly task?: string;
  readonly model?: string;
}

/** An HTTP answer before the headers that every answer has. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that are made once for many answers; each answer gets a copy. */
  readonly kept?: Headers | undefined;
  /** Headers of this answer in addition to those, of other names. */
  readonly own?: Readonly<Record<string, string>> | undefined;
  readonly body: string | Blob | ReadableStream<Uint8Array> | null;
  /** Each is a `Set-Cookie` of its own. */
  readonly cookies?: readonly string[] | undefined;
  /** Resolves when a body that is made on demand was read, or its reader left. */
  readonly over?: Promise<void> | undefined;
  /** What the request was about, for its log line. */
  readonly log?: ReplyLog | undefined;
}

const JSON_HEADERS = { "Content-Type": "application/json" } as const;

export function json(body: unknown, headers?: Readonly<Record<string, string>>, log?: ReplyLog): Reply {
  return written(JSON.stringify(body), headers, log);
}

/** The envelope of docs/api.md 3.1. */
export function success(data: unknown, headers?: Readonly<Record<string, string>>, log?: ReplyLog): Reply {
  return written(succeeding(JSON.stringify(data)), headers, log);
}

/** The same of data that is encoded already. @param data parts of JSON */
export function successfully(data: readonly Uint8Array<ArrayBuffer>[]): Reply {
  const [before = "", after = ""] = succeeding("\n").split("\n");
  return { status: 200, headers: JSON_HEADERS, body: new Blob([before, ...data, after]) };
}

/** The same as text. @param data JSON */
export const succeeding = (data: string) => `{"code":200,"message":"success","data":${data}}`;

/** @param body JSON */
function written(
  body: string,
  headers: Readonly<Record<string, string>> | undefined,
  log: ReplyLog | undefined,
): Reply {
  const all = headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers };
  return { status: 200, headers: all, body, log };
}

/** Releases the body of an answer that nobody will read. */
export function dropReply({ body }: Reply): void {
  if (body instanceof ReadableStream) void body.cancel();
}

/** Whether the caller already has the content that this `ETag` names. */
export function isKnown({ headers }: Request, etag: string): boolean {
  const given = headers.get("if-none-match");
  if (given === null || given === etag) return given !== null;
  const known = given.split(",").map((each) => each.trim());
  return known.some((each) => each === "*" || each.replace(/^W\//, "") === etag);
}
