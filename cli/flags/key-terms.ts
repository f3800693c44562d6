import { type Command, Option } from "commander";
import { AppError } from "../../src/domain/errors.ts";
import { CURRENCY } from "../../src/domain/money/money.ts";
import { QUOTA_RESETS } from "../../src/domain/money/quota.ts";
import { Failure, usage } from "../failure.ts";
import { parseDuration } from "../format/units.ts";
import type { Manage } from "../local.ts";
import { readAmount, readMultiplier } from "./amounts.ts";

/** The limits of a key as flags give them. */
export interface TermFlags {
  readonly expires?: string;
  readonly models?: string;
  readonly features?: string;
  readonly rpm?: string;
  readonly concurrency?: string;
  readonly allowIp?: readonly string[];
  readonly alias?: readonly string[];
  readonly compatResponseFormat?: string;
  readonly syncWait?: string;
  readonly quota?: string;
  readonly quotaReset?: string;
  readonly priceMultiplier?: string;
}

/** What becomes of a key's callback secret, as flags give it. */
export interface SigningFlags {
  readonly callbackSecret?: string;
  readonly callbackSecretGrace?: string;
}

type KeyTerms = Parameters<Manage["updateKey"]>[1];

/** The flags that say what the fields of the management API say, by those fields' names. */
const FLAGS: Readonly<Record<string, string>> = {
  expires_at: "--expires",
  models: "--models",
  features: "--features",
  requests_per_minute: "--rpm",
  concurrency: "--concurrency",
  allow_ips: "--allow-ip",
  aliases: "--alias",
  response_format: "--compat-response-format",
  sync_wait_seconds: "--sync-wait",
  credit_limit: "--credit-limit",
  low_balance: "--low-balance",
  "quota.limit": "--quota",
  "quota.reset": "--quota-reset",
  price_multiplier: "--price-multiplier",
  callback_secret: "--callback-secret",
  callback_secret_grace_seconds: "--callback-secret-grace",
  grace_seconds: "--grace",
};

/** Any of these, where a limit belongs, lifts it. */
const LIFTS = ["none", "any", "never"];

export function withTermFlags(command: Command): Command {
  return command
    .option("--expires <when>", "refuse it from then on: 90d, 12h, a date or a time; or never")
    .option("--models <patterns>", "models it may use, with commas, * for any characters; or any")
    .option("--features <list>", "what it may create: images, videos, compat, with commas; or any")
    .option("--rpm <count>", "creates and redeliveries it may ask for in a minute; or none")
    .option("--concurrency <count>", "tasks of it that may be live at once; or none")
    .option("--allow-ip <ranges...>", "addresses or ranges (CIDR) it may be used from; or any")
    .option("--alias <name=model...>", "other names for models, such as gpt-image-1=sandbox-image; or none")
    .option("--compat-response-format <format>", "what /compat/v1 answers: b64_json or url; or none")
    .option("--sync-wait <duration>", "longest wait of a synchronous call, as 120 (seconds) or 2m; or none")
    .option("--quota <amount>", `what it may spend, in ${CURRENCY}, such as 25.00; or none`)
    .addOption(
      new Option("--quota-reset <when>", "when its quota begins anew, in UTC; total: never").choices(
        QUOTA_RESETS,
      ),
    )
    .option("--price-multiplier <factor>", "its prices times this, such as 1.25; none: as its account's")
    .option(
      "--callback-secret <how>",
      "sign its callbacks: new makes a secret, - reads one from standard input, none ends it",
    );
}

/** @throws Failure (exit 2) naming the flag, for what cannot be read */
export function readTerms(flags: TermFlags, now: number): KeyTerms {
  return {
    expiresAt: liftable(flags.expires, (text) => readExpiry(text, now)),
    models: liftable(flags.models, (text) => split([text])),
    features: liftable(flags.features, (text) => split([text])),
    requestsPerMinute: liftable(flags.rpm, (text) => readCount("--rpm", text)),
    concurrency: liftable(flags.concurrency, (text) => readCount("--concurrency", text)),
    allowIps: liftableList(flags.allowIp, split),
    aliases: liftableList(flags.alias, (texts) => Object.fromEntries(split(texts).map(readAlias))),
    responseFormat: liftable(flags.compatResponseFormat, (text) => text),
    syncWaitSec: liftable(flags.syncWait, (text) => readDuration("--sync-wait", text) / 1000),
    quota: readQuota(flags),
    priceMultiplier: liftable(flags.priceMultiplier, (text) => readMultiplier("--price-multiplier", text)),
  };
}

/**
 * A secret comes from standard input alone: a command line is in the list of processes and in the shell's history.
 *
 * @throws Failure (exit 2) naming the flag, never with what was given
 */
export async function readSigning(
  { callbackSecret: how, callbackSecretGrace: grace }: SigningFlags,
  readStdin: () => Promise<string>,
): Promise<Pick<KeyTerms, "callbackSecret" | "callbackSecretGraceMs">> {
  const callbackSecretGraceMs =
    grace === undefined ? undefined : readDuration("--callback-secret-grace", grace);
  if (how === undefined || how === "new") return { callbackSecret: how, callbackSecretGraceMs };
  if (how === "none") return { callbackSecret: null, callbackSecretGraceMs };
  if (how === "-") return { callbackSecret: (await readStdin()).trim(), callbackSecretGraceMs };
  throw usage(
    "--callback-secret must be new, none, or - to read a secret from standard input; what was given is not shown.",
    "A secret on a command line can be seen by others: make another one.",
  );
}

/** What is refused for a value that came from a flag is told by the flag's name. */
export async function namingFlags<T>(done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    const param = error instanceof AppError ? error.details.param : undefined;
    const flag = param === undefined ? undefined : FLAGS[param];
    if (!(error instanceof AppError) || param === undefined || flag === undefined) throw error;
    throw usage(error.message.replace(param, flag));
  }
}

/** @throws Failure (exit 2) naming the flag */
export function readDuration(flag: string, text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw usage(`${flag} must be a duration such as 90s, 24h or 7d, got ${quoted(text)}.`);
  }
}

function readQuota({ quota, quotaReset: reset }: TermFlags): KeyTerms["quota"] {
  const limit = liftable(quota, (text) => readAmount("--quota", text));
  if (limit === null && reset !== undefined) throw usage("A quota that is lifted has no --quota-reset.");
  if (limit === null || (limit === undefined && reset === undefined)) return limit;
  return { limit, reset };
}

/** @returns null for a word that lifts a limit, undefined for nothing */
export function liftable<T>(text: string | undefined, read: (text: string) => T): T | null | undefined {
  if (text === undefined) return undefined;
  return LIFTS.includes(text) ? null : read(text);
}

function liftableList<T>(
  texts: readonly string[] | undefined,
  read: (texts: readonly string[]) => T,
): T | null | undefined {
  if (texts === undefined) return undefined;
  const [only] = texts;
  return texts.length === 1 && only !== undefined && LIFTS.includes(only) ? null : read(texts);
}

const split = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split(",")).map((each) => each.trim());

function readCount(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usage(`${flag} must be a whole number from 1, or none, got ${quoted(text)}.`);
}

function readAlias(text: string): [alias: string, model: string] {
  const at = text.indexOf("=");
  if (at > 0 && at < text.length - 1) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw usage(`--alias must be like gpt-image-1=sandbox-image, or none, got ${quoted(text)}.`);
}

/** A date is its beginning in UTC; a time needs its zone, for the server may be in another one. */
const DATE = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/;

function readExpiry(text: string, now: number): number {
  if (/^\d.*[a-z]$/.test(text)) return now + readDuration("--expires", text);
  const [, day] = DATE.exec(text) ?? [];
  const at = day === undefined ? Number.NaN : Date.parse(text);
  // What parsers make of a 31st of June is the 1st of July.
  const isDay = day !== undefined && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true;
  if (!Number.isNaN(at) && isDay) return at;
  throw usage(
    `--expires must be like 90d, 12h, 2027-01-31 or 2027-01-31T12:00:00Z, or never, got ${quoted(text)}.`,
  );
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));
