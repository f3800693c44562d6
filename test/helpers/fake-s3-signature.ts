import { createHash, createHmac } from "node:crypto";

export interface SignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export interface Signer {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** What is wrong with a request: status and code. */
export type Refusal = readonly [status: number, code: string, message: string];

const SKEW_MS = 15 * 60_000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;

/** Checks a request as Amazon does, with nothing of the code under test (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html). */
export function refusalOf(request: SignedRequest, signer: Signer, now: number): Refusal | undefined {
  return request.url.searchParams.has("X-Amz-Signature")
    ? presignedRefusal(request, signer, now)
    : headerRefusal(request, signer, now);
}

function headerRefusal(
  { method, url, headers, body }: SignedRequest,
  signer: Signer,
  now: number,
): Refusal | undefined {
  const [, id, day, region, names = "", signature = ""] =
    AUTHORIZATION.exec(headers.authorization ?? "") ?? [];
  if (id === undefined || day === undefined) return [403, "AccessDenied", "Anonymous access is forbidden."];
  if (id !== signer.accessKeyId) return [403, "InvalidAccessKeyId", "The key id is not known."];
  if (region !== signer.region)
    return [400, "AuthorizationHeaderMalformed", `The region is ${signer.region}.`];
  const date = headers["x-amz-date"] ?? "";
  if (!date.startsWith(day)) return [403, "AccessDenied", "The dates differ."];
  if (Math.abs(timeOf(date) - now) > SKEW_MS)
    return [403, "RequestTimeTooSkewed", "The difference is too large."];
  const signed = names.split(";");
  const unsigned = Object.keys(headers).filter((name) => name.startsWith("x-amz-") && !signed.includes(name));
  if (!signed.includes("host") || unsigned.length > 0)
    return [
      403,
      "AccessDenied",
      `There were headers present in the request which were not signed: ${unsigned}`,
    ];
  const hash = headers["x-amz-content-sha256"] ?? "";
  if (signature !== sign({ method, url, names: signed, headers, hash }, { signer, date }))
    return [403, "SignatureDoesNotMatch", "The request signature we calculated does not match."];
  if (hash !== createHash("sha256").update(body).digest("hex"))
    return [400, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match."];
  return undefined;
}

function presignedRefusal(
  { method, url, headers }: SignedRequest,
  signer: Signer,
  now: number,
): Refusal | undefined {
  const given = (name: string) => url.searchParams.get(name) ?? "";
  const signature = given("X-Amz-Signature");
  const date = given("X-Amz-Date");
  const scope = `${signer.accessKeyId}/${date.slice(0, 8)}/${signer.region}/s3/aws4_request`;
  if (given("X-Amz-Credential") !== scope) return [403, "InvalidAccessKeyId", "The key id is not known."];
  if (now > timeOf(date) + Number(given("X-Amz-Expires")) * 1000)
    return [403, "AccessDenied", "Request has expired"];
  const unsigned = new URL(url);
  unsigned.searchParams.delete("X-Amz-Signature");
  const names = given("X-Amz-SignedHeaders").split(";");
  const what = { method, url: unsigned, names, headers, hash: "UNSIGNED-PAYLOAD" };
  if (signature === sign(what, { signer, date })) return undefined;
  return [403, "SignatureDoesNotMatch", "The request signature we calculated does not match."];
}

function sign(
  request: Omit<SignedRequest, "body"> & { readonly names: readonly string[]; readonly hash: string },
  { signer, date }: { signer: Signer; date: string },
): string {
  const query = [...request.url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort();
  const canonical = [
    request.method,
    request.url.pathname
      .split("/")
      .map((part) => encode(decodeURIComponent(part)))
      .join("/"),
    query.join("&"),
    ...request.names.map((name) => `${name}:${(request.headers[name] ?? "").trim().replace(/\s+/g, " ")}`),
    "",
    request.names.join(";"),
    request.hash,
  ].join("\n");
  const scope = `${date.slice(0, 8)}/${signer.region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", date, scope, createHash("sha256").update(canonical).digest("hex")].join(
    "\n",
  );
  const hmac = (key: string | Buffer, value: string) => createHmac("sha256", key).update(value).digest();
  const parts = [date.slice(0, 8), signer.region, "s3", "aws4_request"];
  const key = parts.reduce<string | Buffer>(hmac, `AWS4${signer.secretAccessKey}`);
  return hmac(key, text).toString("hex");
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** `20261123T044051Z` */
function timeOf(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}
