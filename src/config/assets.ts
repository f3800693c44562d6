import { isAbsolute, join } from "node:path";
import * as parse from "../toolkit/settings/parsers.ts";
import { setting, type ValuesOf } from "../toolkit/settings/setting.ts";
import {
  amazonIn,
  type BucketConfig,
  bucketName,
  type Env,
  KEY_VARIABLES,
  partBytesOf,
  prefixOfKeys,
  readKeys,
  regionName,
  variables,
} from "./buckets.ts";
import type { ConfigProblem } from "./problem.ts";

const STORES = ["folder", "s3"] as const;
const OUTPUT_METADATA = ["remove", "keep"] as const;
const SERVES = ["proxy", "redirect", "presigned"] as const;

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
  /** Where files are, or were before they were moved to the folder. Always present with `store: s3`. */
  readonly bucket?: BucketConfig | undefined;
  /** How to reach a bucket that something other than the settings names, such as a backup. */
  readonly reach: Pick<BucketConfig, "keys" | "keyEnv"> & { readonly endpoint?: string | undefined };
}

/** What a backup has to know of the files. */
export function backedUpAssets({ assets: { path, bucket } }: { readonly assets: AssetConfig }) {
  if (bucket === undefined) return { path };
  const { endpoint, region, name, prefix } = bucket;
  return { path, bucket: { endpoint, region, name, prefix } };
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
    const reach = { endpoint, keyEnv, keys: readKeys(keyEnv, { env: sources.env, why: undefined }, []) };
    return { ...values, path, reach };
  }
  const { prefix, region } = values;
  const { env, isServing } = sources;
  const why = "assets.key_env names it, for the bucket in assets.bucket";
  const keys = readKeys(keyEnv, { env, why: isServing ? why : undefined }, problems);
  const reached = { endpoint: endpoint ?? amazonIn(region), region, keys, keyEnv };
  const bucket = { ...reached, name, prefix, partBytes: partBytesOf(env) };
  return { ...values, path, bucket, reach: { endpoint, keyEnv, keys } };
}
