import { createHash, createHmac } from "node:crypto";
import type { Signed, UnsignedRequest } from "../kit/credentials.ts";

/** What a signature is made with. */
export interface SigningKeys {
  readonly service: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string | undefined;
}

/** Signs a request for AWS (Signature Version 4, https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html, 2026-11). */
export async function signAws(request: UnsignedRequest, keys: SigningKeys, now: number): Promise<Signed> {
  const { AwsV4Signer } = await import("aws4fetch");
  const { method, url, headers, body } = request;
  const signer = new AwsV4Signer({
    ...{ method, url: url.href, headers: { ...headers, ...contentType(body) } },
    ...(body && { body: body.bytes.slice() }),
    ...{ accessKeyId: keys.accessKey, secretAccessKey: keys.secretKey },
    ...(keys.sessionToken !== undefined && { sessionToken: keys.sessionToken }),
    ...{ service: keys.service, region: keys.region, datetime: stamp(now) },
  });
  const signed = await signer.sign();
  const added = [...signed.headers].filter(([name]) => ADDED.test(name));
  return { headers: Object.fromEntries(added) };
}

const ADDED = /^(?:authorization|x-amz-)/i;

/**
 * Signs a request for Volcengine: the same steps as AWS's, with other names (https://www.volcengine.com/docs/6369/67269, 2026-11).
 */
export function signVolc(request: UnsignedRequest, keys: SigningKeys, now: number): Promise<Signed> {
  const { method, url, body } = request;
  const date = stamp(now);
  const day = date.slice(0, 8);
  const hash = createHash("sha256")
    .update(body?.bytes ?? "")
    .digest("hex");
  const type = contentType(body);
  const signed: Record<string, string> = {
    ...Object.fromEntries(Object.entries(type).map(([name, value]) => [name.toLowerCase(), value])),
    ...{ host: url.host, "x-content-sha256": hash, "x-date": date },
  };
  const names = Object.keys(signed).sort();
  const canonical = [
    ...[method, url.pathname, canonicalQuery(url)],
    ...names.map((name) => `${name}:${signed[name]}`),
    ...["", names.join(";"), hash],
  ].join("\n");
  const scope = `${day}/${keys.region}/${keys.service}/request`;
  const text = ["HMAC-SHA256", date, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const key = [day, keys.region, keys.service, "request"].reduce<string | Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    keys.secretKey,
  );
  const signature = createHmac("sha256", key).update(text).digest("hex");
  const credential = `Credential=${keys.accessKey}/${scope}`;
  return Promise.resolve({
    headers: {
      ...{ "X-Date": date, "X-Content-Sha256": hash },
      Authorization: `HMAC-SHA256 ${credential}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
      ...(keys.sessionToken !== undefined && { "X-Security-Token": keys.sessionToken }),
    },
  });
}

function contentType(body: UnsignedRequest["body"]): Record<string, string> {
  return body === undefined ? {} : { "Content-Type": body.type };
}

/** `20261123T044051Z` */
function stamp(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, "");
}

function canonicalQuery({ searchParams }: URL): string {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const pairs = [...searchParams].map(([name, value]): [string, string] => [encode(name), encode(value)]);
  // By names and then by values: as one text, `id2=2` would come before `id=1`.
  pairs.sort(([name, value], [other, otherValue]) =>
    name === other ? compare(value, otherValue) : compare(name, other),
  );
  return pairs.map((pair) => pair.join("=")).join("&");
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
