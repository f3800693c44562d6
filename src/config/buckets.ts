import * as parse from "../toolkit/settings/parsers.ts";
import { createSecret, type Secret } from "../toolkit/settings/secret.ts";
import type { ConfigProblem } from "./problem.ts";

/** As the tools of Amazon have it. */
export const KEY_VARIABLES = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/** How a service that has buckets is reached. */
export interface BucketService {
  readonly endpoint: string;
  readonly region: string;
  /** Absent if a variable is missing, because only code that uses the bucket needs them. */
  readonly keys?: BucketKeys | undefined;
  /** The variables that should hold them. */
  readonly keyEnv: readonly string[];
}

export interface BucketConfig extends BucketService {
  readonly name: string;
  readonly prefix: string;
  /** Larger files are sent in parts of this size. */
  readonly partBytes?: number | undefined;
}

/** The size of parts in a run that is to have many: services take no smaller ones than 5 MB. */
export function partBytesOf({ SVC_PART_BYTES: text }: Env): number | undefined {
  return /^[1-9]\d{2,8}$/.test(text ?? "") ? Number(text) : undefined;
}

interface BucketKeys {
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
  readonly sessionToken?: Secret | undefined;
}

/** The address of Amazon's service in a region. */
export const amazonIn = (region: string) => `https://s3.${region}.amazonaws.com`;

export type Env = Readonly<Record<string, string | undefined>>;

/** Reads the keys of a bucket. Quotes none, which may be one with a typing error. @param why they are needed, where they are */
export function readKeys(
  [id = "", secret = "", session = ""]: readonly string[],
  { env, why }: { env: Env; why: string | undefined },
  problems: ConfigProblem[],
): BucketKeys | undefined {
  const read = (name: string, isNeeded: boolean): Secret | undefined => {
    const given = env[name]?.trim() ?? "";
    if (KEY.test(given)) return createSecret(given);
    if (given !== "")
      problems.push({ where: name, message: "must be a key: printable ASCII characters without spaces" });
    else if (isNeeded && why !== undefined) problems.push({ where: name, message: `must be set: ${why}` });
    return undefined;
  };
  const accessKeyId = read(id, true);
  const secretAccessKey = read(secret, true);
  const sessionToken = read(session, false);
  return accessKeyId && secretAccessKey && { accessKeyId, secretAccessKey, sessionToken };
}

/** Session tokens are longer than other keys. */
const KEY = /^[\x21-\x7e]{1,4096}$/;

function matching(pattern: RegExp, expected: string, change = (text: string) => text): parse.Parser<string> {
  return parse.withSchema({ type: "string", pattern: pattern.source }, (raw) =>
    typeof raw === "string" && pattern.test(raw) ? { ok: true, value: change(raw) } : { ok: false, expected },
  );
}

/**
 * Names that are valid everywhere, and older ones with capitals and underscores
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html, checked 2026-11-23).
 */
export const bucketName = matching(
  /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/,
  "the name of a bucket: 3 to 63 letters, digits, dots and hyphens",
);

/** Has a slash at its end, unless it is empty. */
export const prefixOfKeys = matching(
  /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}){0,3}\/?)?$/,
  "up to four names of letters, digits, dots, hyphens and underscores with slashes between them, such as svc/",
  (text) => (text === "" || text.endsWith("/") ? text : `${text}/`),
);

export const regionName = matching(/^[a-z0-9][a-z0-9-]{0,62}$/, "the name of a region, such as eu-central-1");

const VARIABLE = /^[A-Z_][A-Z0-9_]{0,127}$/;

export const variables: parse.Parser<readonly string[]> = parse.withSchema(
  { type: "array", items: { type: "string", pattern: VARIABLE.source }, minItems: 2, maxItems: 3 },
  (raw) => {
    const items = [raw].flat(1).flatMap((item) => (typeof item === "string" ? item.split(",") : [item]));
    const names = items.map((item) => (typeof item === "string" ? item.trim() : ""));
    const areNames = names.every((name) => VARIABLE.test(name) && !name.startsWith("SVC_"));
    const expected =
      "two or three names of variables that do not begin with SVC_, such as S3_KEY_ID,S3_SECRET";
    return areNames && (names.length === 2 || names.length === 3)
      ? { ok: true, value: names }
      : { ok: false, expected };
  },
);

const BUCKET_URL = /^s3:\/\/([^/]*)\/?(.*)$/;

/** Whether a place is named as one in a bucket: `s3://bucket/prefix`. */
export const isBucketUrl = (text: string) => text.startsWith("s3://");

/** The bucket and the prefix in `s3://bucket/prefix`, or what is expected instead. */
export function parseBucketUrl(
  text: string,
): { readonly name: string; readonly prefix: string } | { readonly expected: string } {
  const [, name = "", below = ""] = BUCKET_URL.exec(text) ?? [];
  const bucket = bucketName(name);
  if (!bucket.ok) return { expected: `s3://bucket/prefix with ${bucket.expected}` };
  const prefix = prefixOfKeys(below);
  if (!prefix.ok) return { expected: `s3://bucket/prefix, the prefix of ${prefix.expected}` };
  return { name: bucket.value, prefix: prefix.value };
}
