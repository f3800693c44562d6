import type { S3Client } from "../../assets/s3/client.ts";
import type { S3Error } from "../../assets/s3/errors.ts";
import type { BucketRight, Probed } from "../../assets/s3/probe.ts";
import type { BucketConfig } from "../../config/buckets.ts";
import type { Config } from "../../config/config.ts";
import { createSystemClock } from "../../runtime/clock.ts";
import { filesOwners } from "../assets.ts";
import { openClient } from "../bucket-client.ts";
import { error, type Finding, ok, quoted, warn } from "./finding.ts";

/** A signature is refused when the clocks differ by a quarter of an hour. */
const MOST_AHEAD_MS = 60_000;
/** The server gives up older uploads. */
const OLD_UPLOAD_MS = 60 * 60_000;

/** What a bucket is for, in the words of the settings. */
export interface BucketUse {
  /** The prefix of the ids of findings. */
  readonly id: "bucket" | "backup_bucket";
  readonly bucket: BucketConfig;
  /** `assets` or `backup`, where the settings are. */
  readonly settings: string;
  /** The setting that has the bucket's name. */
  readonly nameSetting: string;
}

/** The missing permission of the key, in the words of Amazon's policies. */
const ACTIONS: Readonly<Record<BucketRight, string>> = {
  list: "s3:ListBucket on the bucket",
  write: "s3:PutObject below the prefix",
  read: "s3:GetObject below the prefix",
  remove: "s3:DeleteObject below the prefix",
  "list uploads": "s3:ListBucketMultipartUploads on the bucket",
};

/** Checks the bucket of the service's files with a small object that is stored and removed again. */
export async function bucketChecks(config: Config, now: number): Promise<Finding[]> {
  const { bucket } = config.assets;
  if (bucket === undefined) return [];
  const use: BucketUse = { id: "bucket", bucket, settings: "assets", nameSetting: "assets.bucket" };
  const findings = await reachChecks(use, now);
  if (findings.some(({ id, status }) => id === use.id && status === "error")) return findings;
  return [...findings, await ownerCheck(config)];
}

/** Whether a bucket answers, and does what a service needs of it. */
export async function reachChecks(use: BucketUse, now: number): Promise<Finding[]> {
  const { id, bucket } = use;
  if (bucket.keys === undefined) {
    const names = bucket.keyEnv.slice(0, 2);
    const text = `The keys of the bucket ${bucket.name} are not there, so that nothing of it can be read.`;
    return [error(id, text, `export ${names.map((name) => `${name}=…`).join(" ")}`)];
  }
  const client = await openClient({ ...bucket, settings: use.settings }, createSystemClock());
  const { probeBucket } = await import("../../assets/s3/probe.ts");
  const name = `svc-doctor-${Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex")}`;
  const probed = await probeBucket(client, name);
  const { failure } = probed;
  if (failure !== undefined) return [failureOf(use, failure), ...clockOf(use, probed)];
  return [
    ok(id, `The bucket ${bucket.name} at ${bucket.endpoint} can be listed, written, read and emptied.`),
    ...clockOf(use, probed),
    conditionOf(use, probed),
    uploadsOf(use, client, probed, now),
  ];
}

function failureOf(
  { id, bucket, settings, nameSetting }: BucketUse,
  { right, error: failure }: { right: BucketRight; error: S3Error },
): Finding {
  const fail = (fix: string) => error(id, failure.message, fix);
  const [keyId = "", secret = ""] = bucket.keyEnv;
  switch (failure.code) {
    case "NoSuchBucket":
      return fail(`Make the bucket ${bucket.name}, or change ${nameSetting} or ${settings}.endpoint.`);
    case "InvalidAccessKeyId":
    case "ExpiredToken":
      return fail(`export ${keyId}=… ${secret}=…   # the key of a user of ${bucket.endpoint}`);
    case "SignatureDoesNotMatch":
      return fail(`export ${secret}=…   # the secret that belongs to the key in ${keyId}`);
    case "RequestTimeTooSkewed":
      return fail("timedatectl set-ntp true");
    case "AuthorizationHeaderMalformed":
    case "PermanentRedirect":
      return fail(
        failure.region === undefined
          ? `Set ${settings}.region and ${settings}.endpoint to where the bucket is.`
          : `${settings}.region: ${failure.region}`,
      );
    case "AccessDenied":
      return fail(`Have the bucket's policy let this key do ${ACTIONS[right]}.`);
    case "unreachable":
    case "late":
      return fail(`See that ${bucket.endpoint} answers from this machine, or change ${settings}.endpoint.`);
    default:
      return fail(
        `See what ${bucket.endpoint} says of ${right === "list" ? "lists" : `the right to ${right}`}.`,
      );
  }
}

function clockOf({ id, bucket }: BucketUse, { aheadMs, failure }: Probed): Finding[] {
  if (aheadMs === undefined || failure?.error.code === "RequestTimeTooSkewed") return [];
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (Math.abs(aheadMs) <= MOST_AHEAD_MS)
    return [ok(`${id}_clock`, `The clock agrees with that of ${bucket.endpoint}.`)];
  const text = `The clock is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} that of ${bucket.endpoint}, which refuses signatures from 15 minutes on.`;
  return [warn(`${id}_clock`, text, "timedatectl set-ntp true")];
}

function conditionOf({ id, bucket, settings }: BucketUse, { conditions }: Probed): Finding {
  if (conditions === "kept")
    return ok(
      `${id}_conditions`,
      "A write on the condition that nothing is there is refused where something is.",
    );
  const what = conditions === "ignored" ? "ignores" : "does not know";
  const text = `${bucket.endpoint} ${what} conditional writes (If-None-Match): of two data folders that start at the same time with this bucket, both may think that it is theirs.`;
  const fix = `Give each data folder a ${settings === "assets" ? "prefix" : "place"} of its own, and start new ones one after the other; a later version of the service may know conditions.`;
  return warn(`${id}_conditions`, text, fix);
}

function uploadsOf(
  { id, bucket }: BucketUse,
  client: S3Client,
  { uploadsBegunAt }: Probed,
  now: number,
): Finding {
  const old = uploadsBegunAt.filter((at) => client.now() - at > OLD_UPLOAD_MS);
  if (old.length === 0) return ok(`${id}_uploads`, "No upload in parts was left unfinished.");
  const since = new Date(Math.min(...old, now)).toISOString();
  const text = `${old.length} uploads in parts were begun below ${bucket.prefix === "" ? "the whole bucket" : bucket.prefix} and never ended, the first at ${since}. Their parts cost room.`;
  const fix =
    id === "bucket"
      ? "Start the server, which gives them up within the hour, or add the rule in docs/files.md to the bucket."
      : "Make a backup, which gives them up first, or add the rule in docs/files.md to the bucket.";
  return warn(`${id}_uploads`, text, fix);
}

async function ownerCheck(config: Config): Promise<Finding> {
  const { bucket } = await filesOwners(config, { isTrial: true });
  const other = await bucket?.other();
  if (other === undefined) return ok("bucket_owner", "The bucket and prefix are no other data folder's.");
  const text = `What lies below the prefix belongs to ${other}: no server starts on this data folder.`;
  return error("bucket_owner", text, claimOf(config, "assets.prefix"));
}

/** Whose the folder of files is. */
export async function filesChecks(config: Config): Promise<Finding[]> {
  const { folder } = await filesOwners(
    { ...config, assets: { ...config.assets, bucket: undefined } },
    { isTrial: true },
  );
  const other = await folder.other();
  if (other === undefined) return [ok("files_owner", "The folder of files is no other data folder's.")];
  const text = `What lies in ${config.assets.path} belongs to ${other}: no server starts on this data folder.`;
  return [error("files_owner", text, claimOf(config, "assets.path"))];
}

function claimOf({ dataDir }: Config, setting: string): string {
  const claim = `svc assets claim --data-dir ${quoted(dataDir)} --yes`;
  return `${claim}   # where the other is stopped for good; else another ${setting}`;
}
