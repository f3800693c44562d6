import * as parse from "../toolkit/settings/parsers.ts";
import { setting, type ValuesOf } from "../toolkit/settings/setting.ts";
import {
  amazonIn,
  type BucketService,
  type Env,
  isBucketUrl,
  parseBucketUrl,
  readKeys,
  regionName,
  variables,
} from "./buckets.ts";
import type { ConfigProblem } from "./problem.ts";

const DAY_S = 86_400;

/** Backups that the server makes by itself. */
export function backupSettings() {
  return {
    backup: {
      everyMs: setting<number | undefined>({
        key: "backup.every",
        flag: "--backup-every <time>",
        help: "how often the server backs its data folder up, such as 6h or 1d; needs backup.to",
        parse: parse.durationOrOff(10, 30 * DAY_S),
        fallback: undefined,
        fallbackText: "off",
      }),
      to: setting<string | undefined>({
        key: "backup.to",
        flag: "--backup-to <place>",
        help: "folder for these backups, which has to be there, best on another disk; or s3://bucket/prefix",
        parse: parse.text,
        fallback: undefined,
        fallbackText: "none",
      }),
      keep: setting<number>({
        key: "backup.keep",
        flag: "--backup-keep <backups>",
        help: "how many backups stay there; the oldest are removed",
        parse: parse.integer(1, 10_000),
        fallback: 7,
      }),
      secretKey: setting<boolean>({
        key: "backup.secret_key",
        flag: "--no-backup-secret-key",
        help: "secret.key is in these backups; --no-backup-secret-key leaves it out, so that they open no sealed secret",
        parse: parse.boolean,
        fallback: true,
      }),
      ...serviceSettings(),
    },
  };
}

/** How the bucket of backups is reached. */
function serviceSettings() {
  return {
    endpoint: setting<string | undefined>({
      key: "backup.endpoint",
      flag: "--backup-endpoint <url>",
      help: "address of the S3 service of s3:// backups",
      parse: parse.apiUrl,
      fallback: undefined,
      fallbackText: "that of assets.endpoint",
    }),
    region: setting<string | undefined>({
      key: "backup.region",
      flag: "--backup-region <region>",
      help: "region of that bucket",
      parse: regionName,
      fallback: undefined,
      fallbackText: "that of assets.region",
    }),
    keyEnv: setting<readonly string[] | undefined>({
      key: "backup.key_env",
      flag: "--backup-key-env <names...>",
      help: "variables that hold its access key's id, its secret, and a session token where there is one",
      parse: variables,
      fallback: undefined,
      fallbackText: "those of assets.key_env",
    }),
  };
}

type Values = ValuesOf<ReturnType<typeof backupSettings>>;

export interface BackupConfig extends Omit<Values["backup"], "endpoint" | "region" | "keyEnv"> {
  /** How a bucket of backups is reached. */
  readonly service: BucketService;
}

/** Puts together what concerns backups, with the keys of their bucket. */
export function readBackups(
  {
    backup,
    assets,
  }: Values & { readonly assets: Omit<BucketService, "endpoint"> & { endpoint?: string | undefined } },
  { env, isServing }: { env: Env; isServing: boolean },
  problems: ConfigProblem[],
): BackupConfig {
  const { endpoint, region = assets.region, keyEnv = assets.keyEnv, ...values } = backup;
  const { everyMs, to } = values;
  const found = to !== undefined && isBucketUrl(to) ? parseBucketUrl(to) : undefined;
  if (found !== undefined && "expected" in found)
    problems.push({ where: "backup.to", message: `must be a folder, or ${found.expected}` });
  const why =
    isServing && found !== undefined && everyMs !== undefined
      ? "backup.key_env or assets.key_env names it, for the bucket in backup.to"
      : undefined;
  const address = endpoint ?? assets.endpoint ?? amazonIn(region);
  // If no bucket is named, the values of these variables do not matter.
  const keys = readKeys(keyEnv, { env, why }, found === undefined ? [] : problems);
  return { ...values, service: { endpoint: address, region, keyEnv, keys } };
}

/** A schedule needs a place. */
export function checkBackups({ backup }: Values, problems: ConfigProblem[]): void {
  if (backup.everyMs !== undefined && backup.to === undefined)
    problems.push({
      where: "backup.every",
      message: "needs backup.to, the folder or bucket that backups go to",
    });
}

/** A place without a schedule is no mistake, because a flag may switch off the schedule of the settings file. */
export function backupWarnings({ backup }: Values): string[] {
  if (backup.everyMs !== undefined || backup.to === undefined) return [];
  return [`Nothing is backed up to ${backup.to}: backup.every is off. Set it, such as 1d.`];
}
