import type { KeyChange } from "../domain/access/account.ts";
import {
  FEATURES,
  type KeyPolicy,
  type PolicyChange,
  RESPONSE_FORMATS,
  type ResponseFormat,
} from "../domain/access/key-policy.ts";
import { isSigningSecret, type SigningChange } from "../domain/callback/signature.ts";
import { AppError } from "../domain/errors.ts";
import type { ModelId } from "../domain/ids.ts";
import type { Micros } from "../domain/money/money.ts";
import { QUOTA_RESETS, type Quota } from "../domain/money/quota.ts";
import type { Addresses } from "../domain/ports/addresses.ts";
import type { Secrets } from "../domain/ports/runtime.ts";
import { checkAmount, checkMultiplier } from "./account-terms.ts";
import { invalid, unusable } from "./management.ts";

/** In place of a callback secret: one is to be made. */
export const NEW_SECRET = "new";

/** What an operator wants of a key, as it was given. What is absent says nothing; null lifts the limit. */
export interface KeyTerms {
  /** Epoch milliseconds. */
  readonly expiresAt?: number | null | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly features?: readonly string[] | null | undefined;
  readonly allowIps?: readonly string[] | null | undefined;
  readonly requestsPerMinute?: number | null | undefined;
  readonly concurrency?: number | null | undefined;
  readonly aliases?: { readonly [alias: string]: string } | null | undefined;
  readonly responseFormat?: string | null | undefined;
  readonly syncWaitSec?: number | null | undefined;
  readonly quota?: QuotaTerms | null | undefined;
  /** Millionths. */
  readonly priceMultiplier?: number | null | undefined;
  /** What its callbacks are signed with, `NEW_SECRET` for one that is made; null: they are not signed. */
  readonly callbackSecret?: string | null | undefined;
  /** How long the callback secret that is replaced signs too. */
  readonly callbackSecretGraceMs?: number | undefined;
}

/** What a key may spend. What is absent is as the key has it, or, without a quota so far, `total`. */
export interface QuotaTerms {
  readonly limit?: Micros | undefined;
  readonly reset?: string | undefined;
}

/** The largest of each limit that can be given, and how many entries a list may have; the smallest is 1. */
export const MOST = {
  requestsPerMinute: 1_000_000,
  /** Every create of the key counts its live tasks so far. */
  concurrency: 10_000,
  syncWaitSec: 3600,
  entries: 100,
} as const;
/** How long a secret that is replaced may go on: 30 days. */
export const MAX_GRACE_SEC = 30 * 86_400;
const MODEL_PATTERN = /^[A-Za-z0-9._:/*-]{1,200}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/;
/** The end of the year 9999: what can be written as a date everywhere. */
const LATEST = 253_402_300_799_000;

/** What terms are checked against. */
export interface TermsContext {
  readonly addresses: Addresses;
  readonly secrets: Pick<Secrets, "newSigningSecret">;
  readonly now: number;
  /** The one that the key has already. */
  readonly quota?: Quota | undefined;
}

/**
 * Checks what an operator gave for a key and brings it into the form it is kept in: no value twice, ranges written in one way.
 *
 * @throws AppError `invalid_request` naming the field of the management API first, then what is allowed and what was given
 */
export function checkTerms(terms: KeyTerms, context: TermsContext): KeyChange {
  const { addresses, now, quota } = context;
  const policy: PolicyChange = {
    models: terms.models && checkModels(terms.models),
    features: terms.features && checkFeatures(terms.features),
    allowIps: terms.allowIps && checkRanges(terms.allowIps, addresses),
    requestsPerMinute: checkInteger("requests_per_minute", terms.requestsPerMinute, MOST.requestsPerMinute),
    concurrency: checkInteger("concurrency", terms.concurrency, MOST.concurrency),
    aliases: terms.aliases && checkAliases(terms.aliases),
    responseFormat: checkResponseFormat(terms.responseFormat),
    syncWaitSec: checkInteger("sync_wait_seconds", terms.syncWaitSec, MOST.syncWaitSec),
    quota: terms.quota && checkQuota(terms.quota, quota),
    priceMultiplier: checkMultiplier(terms.priceMultiplier),
  };
  return { policy, expiresAt: checkExpiry(terms.expiresAt, now), signing: checkSigning(terms, context) };
}

/** @throws AppError `invalid_request` for a time that a replaced secret cannot go on for */
export function checkGrace(field: string, graceMs: number): void {
  if (Number.isInteger(graceMs) && graceMs >= 0 && graceMs <= MAX_GRACE_SEC * 1000) return;
  throw invalid(field, `${field} must be from 0 to ${MAX_GRACE_SEC} (30 days), got ${graceMs / 1000}.`);
}

function checkSigning(
  { callbackSecret, callbackSecretGraceMs: graceMs }: KeyTerms,
  { secrets, now }: TermsContext,
): SigningChange | null | undefined {
  const graceField = "callback_secret_grace_seconds";
  if (graceMs !== undefined) checkGrace(graceField, graceMs);
  if (callbackSecret === undefined || callbackSecret === null) {
    if (graceMs === undefined) return callbackSecret;
    throw invalid(graceField, `${graceField} is only for a callback secret that takes another one's place.`);
  }
  const previousUntil = graceMs === undefined || graceMs === 0 ? undefined : now + graceMs;
  if (callbackSecret === NEW_SECRET) return { secret: secrets.newSigningSecret(), previousUntil };
  if (isSigningSecret(callbackSecret)) return { secret: callbackSecret, previousUntil };
  // What was given may be all of a secret but its last character.
  throw invalid(
    "callback_secret",
    `callback_secret must be "${NEW_SECRET}", or whsec_ and 24 to 64 bytes in base64; what was given is not shown.`,
  );
}

function checkExpiry(expiresAt: number | null | undefined, now: number): number | null | undefined {
  if (expiresAt === undefined || expiresAt === null) return expiresAt;
  if (Number.isInteger(expiresAt) && expiresAt > now && expiresAt <= LATEST) return expiresAt;
  throw unusable("expires_at", "must be a time to come, before the year 10000", timeOf(expiresAt));
}

function checkModels(models: readonly string[]): readonly string[] {
  return checkList("models", models, (model) => {
    if (MODEL_PATTERN.test(model)) return model;
    throw unusable("models", "must hold ids of models, * standing for any characters", model);
  });
}

function checkFeatures(features: readonly string[]): KeyPolicy["features"] {
  return checkList("features", features, (feature) => {
    const known = FEATURES.find((each) => each === feature);
    if (known !== undefined) return known;
    throw unusable("features", `must hold some of ${FEATURES.join(", ")}`, feature);
  });
}

function checkRanges(ranges: readonly string[], addresses: Addresses): readonly string[] {
  return checkList("allow_ips", ranges, (given) => {
    const range = addresses.range(given);
    if (range !== undefined) return range;
    throw unusable("allow_ips", "must hold addresses or ranges of them, such as 192.168.1.0/24", given);
  });
}

function checkList<T extends string>(
  field: string,
  given: readonly string[],
  checkOne: (each: string) => T,
): readonly T[] {
  const values = [...new Set(given.map(checkOne))];
  if (values.length >= 1 && values.length <= MOST.entries) return values;
  throw unusable(field, `must have 1 to ${MOST.entries} entries`, values.length);
}

function checkInteger(
  field: string,
  value: number | null | undefined,
  max: number,
): number | null | undefined {
  if (value === undefined || value === null) return value;
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw unusable(field, `must be an integer from 1 to ${max}`, value);
}

function checkAliases(aliases: { readonly [alias: string]: string }): KeyPolicy["aliases"] {
  const entries = Object.entries(aliases);
  if (entries.length < 1 || entries.length > MOST.entries) {
    throw unusable("aliases", `must have 1 to ${MOST.entries} entries`, entries.length);
  }
  for (const [alias, model] of entries) {
    if (NAME.test(alias) && NAME.test(model)) continue;
    throw unusable(
      "aliases",
      "must be names and the models they stand for, of letters, digits and . _ : / -",
      `${alias}=${model}`,
    );
  }
  // Whether a model of such an id is there is known when one is asked for.
  return Object.fromEntries(entries) as Record<string, ModelId>;
}

function checkResponseFormat(format: string | null | undefined): ResponseFormat | null | undefined {
  if (format === undefined || format === null) return format;
  const known = RESPONSE_FORMATS.find((each) => each === format);
  if (known !== undefined) return known;
  throw unusable("response_format", `must be one of ${RESPONSE_FORMATS.join(", ")}`, format);
}

function checkQuota(terms: QuotaTerms, before: Quota | undefined): Quota {
  const { limit = before?.limit, reset: given = before?.reset ?? "total" } = terms;
  if (limit === undefined) {
    throw new AppError(
      "invalid_request",
      "quota.limit must say how much the key may spend: there is no quota yet whose reset could change.",
      { param: "quota.limit" },
    );
  }
  const reset = QUOTA_RESETS.find((each) => each === given);
  if (reset === undefined) throw unusable("quota.reset", `must be one of ${QUOTA_RESETS.join(", ")}`, given);
  return { limit: checkAmount("quota.limit", limit), reset };
}

/** As a date where it is one, for a count of milliseconds tells nobody anything. */
function timeOf(at: number): string | number {
  return Number.isInteger(at) && Math.abs(at) <= LATEST ? new Date(at).toISOString() : at;
}
