import { isAbsolute, join } from "node:path";
import * as parse from "../toolkit/settings/parsers.ts";
import { createSecret, type Secret } from "../toolkit/settings/secret.ts";
import { setting, type ValuesOf } from "../toolkit/settings/setting.ts";
import type { ConfigProblem } from "./problem.ts";

const STORES = ["folder", "s3"] as const;
const OUTPUT_METADATA = ["remove", "keep"] as const;
const SERVES = ["proxy", "redirect", "presigned"] as const;
/** As the tools of Amazon have it. */
const KEY_VARIABLES = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/** Where files are stored: inputs of tasks and what providers made. */
export function assetSettings() {
  return {
    store: setting<(typeof STORES)[number]>({
      key: "assets.store",
      flag: "--assets-store <place>",
      help: "where new files are stored: folder or s3; files in the other place are found as long as its settings are there",
      parse: parse.oneOf(STORES),
      fallback: "folder",
    }),
    path: setting<string>({
      key: "assets.path",
      flag: "--assets-path <folder>",
      help: "folder of files, and with s3 of their copies and of what is not stored yet; a relative one is below data_dir",
      parse: parse.text,
      fallback: "assets",
    }),
    ...bucketSettings(),
    serve: setting<(typeof SERVES)[number]>({
      key: "assets.serve",
      flag: "--assets-serve <how>",
      help: "how files in the bucket are sent: proxy through this service; redirect to an address that everybody gets for five minutes; presigned: to one of its own for each request, which ends after a minute",
      parse: parse.oneOf(SERVES),
      fallback: "proxy",
    }),
    cacheMb: setting<number>({
      key: "assets.cache_mb",
      flag: "--assets-cache-mb <megabytes>",
      help: "how much of the bucket is kept on this machine as well",
      parse: parse.integer(0, 100_000_000),
      fallback: 1024,
    }),
  };
}

/** What is done to what providers made. */
export function outputSettings() {
  return {
    metadata: setting<(typeof OUTPUT_METADATA)[number]>({
      key: "outputs.metadata",
      flag: "--outputs-metadata <what>",
      help: "remove or keep what providers write into files besides the picture, such as the prompt and the model's file",
      parse: parse.oneOf(OUTPUT_METADATA),
      fallback: "remove",
    }),
  };
}

/** Which bucket, and with which key. */
function bucketSettings() {
  return {
    endpoint: setting<string | undefined>({
      key: "assets.endpoint",
      flag: "--assets-endpoint <url>",
      help: "address of the S3 service; unset: Amazon's in the region",
      parse: parse.apiUrl,
      fallback: undefined,
      fallbackText: "Amazon's",
    }),
    bucket: setting<string | undefined>({
      key: "assets.bucket",
      flag: "--assets-bucket <name>",
      help: "bucket for files, which is there already",
      parse: bucketName,
      fallback: undefined,
      fallbackText: "none",
    }),
    prefix: setting<string>({
      key: "assets.prefix",
      flag: "--assets-prefix <prefix>",
      help: "how the keys of all files begin, such as svc/; one for each data folder, with nothing else below it",
      parse: prefixOfKeys,
      fallback: "",
      fallbackText: "none",
    }),
    region: setting<string>({
      key: "assets.region",
      flag: "--assets-region <region>",
      help: "region of the bucket; auto for R2, garage for Garage as it comes",
      parse: regionName,
      fallback: "us-east-1",
    }),
    keyEnv: setting<readonly string[]>({
      key: "assets.key_env",
      flag: "--assets-key-env <names...>",
      help: "variables that hold the access key's id, its secret, and a session token where there is one",
      parse: variables,
      fallback: KEY_VARIABLES,
      fallbackText: KEY_VARIABLES.join(", "),
    }),
  };
}

type Values = ValuesOf<ReturnType<typeof assetSettings>>;

export interface AssetConfig extends Omit<Values, "endpoint" | "bucket" | "keyEnv"> {
  /** Absolute. */
  readonly path: string;
  /** Where files are, or were before they were moved to the folder. Always there with `store: s3`. */
  readonly bucket?: BucketConfig | undefined;
}

export interface BucketConfig {
  readonly endpoint: string;
  readonly name: string;
  readonly prefix: string;
  readonly region: string;
  /** Absent where a variable lacks: only what asks the bucket needs them. */
  readonly keys?: BucketKeys | undefined;
  /** The variables that should hold them. */
  readonly keyEnv: readonly string[];
}

interface BucketKeys {
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
  readonly sessionToken?: Secret | undefined;
}

/** What a backup has to know of the files. */
export function backedUpAssets({ assets: { path, bucket } }: { readonly assets: AssetConfig }) {
  return { path, hasBucket: bucket !== undefined };
}

/** Puts together what concerns files, with the keys of their bucket. */
export function readAssets(
  { bucket: name, endpoint, keyEnv, ...values }: Values,
  sources: { dataDir: string; env: Env; isServing: boolean },
  problems: ConfigProblem[],
): AssetConfig {
  const path = isAbsolute(values.path) ? values.path : join(sources.dataDir, values.path);
  if (name === undefined) {
    if (values.store === "s3")
      problems.push({ where: "assets.bucket", message: "must name a bucket where assets.store is s3" });
    return { ...values, path };
  }
  const { prefix, region } = values;
  const keys = readKeys(keyEnv, sources, problems);
  const address = endpoint ?? `https://s3.${region}.amazonaws.com`;
  return { ...values, path, bucket: { name, endpoint: address, prefix, region, keys, keyEnv } };
}

type Env = Readonly<Record<string, string | undefined>>;

/** Quotes no key, which may be one with a typing error. */
function readKeys(
  [id = "", secret = "", session = ""]: readonly string[],
  { env, isServing }: { env: Env; isServing: boolean },
  problems: ConfigProblem[],
): BucketKeys | undefined {
  const read = (name: string, isNeeded: boolean): Secret | undefined => {
    const given = env[name]?.trim() ?? "";
    if (KEY.test(given)) return createSecret(given);
    if (given !== "")
      problems.push({ where: name, message: "must be a key: printable ASCII characters without spaces" });
    else if (isNeeded && isServing)
      problems.push({
        where: name,
        message: "must be set: assets.key_env names it, for the bucket in assets.bucket",
      });
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
const bucketName = matching(
  /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/,
  "the name of a bucket: 3 to 63 letters, digits, dots and hyphens",
);

/** Has a slash at its end, unless it is empty. */
const prefixOfKeys = matching(
  /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}){0,3}\/?)?$/,
  "up to four names of letters, digits, dots, hyphens and underscores with slashes between them, such as svc/",
  (text) => (text === "" || text.endsWith("/") ? text : `${text}/`),
);

const regionName = matching(/^[a-z0-9][a-z0-9-]{0,62}$/, "the name of a region, such as eu-central-1");

const VARIABLE = /^[A-Z_][A-Z0-9_]{0,127}$/;

const variables: parse.Parser<readonly string[]> = parse.withSchema(
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
