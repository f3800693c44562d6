/** A request that is ready to be sent, except for its credentials. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly bytes: Uint8Array } | undefined;
}

/** A request as it leaves. */
export interface SignedRequest {
  readonly url: URL;
  readonly headers: Headers;
}

/** What credentials add to a request. All of it counts as secret. */
export interface Signed {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
}

/**
 * Headers that carry the key; or a function that signs one request or adds a minted token. What the function throws means that the
 * request was not sent.
 */
export type Credentials =
  | Readonly<Record<string, string>>
  | ((request: UnsignedRequest, signal: AbortSignal) => Promise<Signed>);

/** Shorter values are too common to be masked wherever they appear. */
const TELLING = 8;
/** `Bearer `, `AWS4-HMAC-SHA256 `. */
const SCHEME = /^[\w-]+ /;

/** Adds credentials to a request. @param keep receives the texts that must not appear in any error */
export async function sign(
  credentials: Credentials,
  request: UnsignedRequest,
  keep: (secret: string) => void,
  signal: AbortSignal,
): Promise<SignedRequest> {
  const isMinted = typeof credentials === "function";
  const signed = isMinted ? await credentials(request, signal) : { headers: credentials };
  const url = new URL(request.url);
  const headers = new Headers(request.headers);
  const added = Object.entries(signed.headers ?? {});
  const query = Object.entries(signed.query ?? {});
  if (isMinted) {
    const secrets = [...added, ...query].map(([, value]) => value.replace(SCHEME, ""));
    for (const secret of secrets) if (secret.length >= TELLING) keep(secret);
  }
  for (const [name, value] of added) headers.set(name, value);
  // What the request's own query looks like stays as it is: it may be what was signed.
  const fields = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  if (fields.length > 0)
    url.search = [url.search.slice(1), ...fields].filter((part) => part !== "").join("&");
  return { url, headers };
}
