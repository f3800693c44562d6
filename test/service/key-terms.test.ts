import { describe, expect, test } from "bun:test";
import type { QuotaTerms } from "../../src/domain/access/term.ts";
import { AppError } from "../../src/domain/errors.ts";
import { toMicros } from "../../src/domain/money/money.ts";
import type { Quota } from "../../src/domain/money/quota.ts";
import { createAddresses } from "../../src/runtime/address-ranges.ts";
import { checkKeyTerms, type KeyTerms } from "../../src/service/key-terms.ts";
import { fakeSecrets } from "../helpers/secrets.ts";

const NOW = 1_700_000_000_000;
const check = (terms: KeyTerms, quota?: Quota) =>
  checkKeyTerms(terms, { addresses: createAddresses(), secrets: fakeSecrets(), now: NOW, quota });

function refusal(terms: KeyTerms): { param: string | undefined; message: string } {
  try {
    check(terms);
  } catch (error) {
    if (error instanceof AppError) return { param: error.param, message: error.message };
    throw error;
  }
  throw new Error("It was taken.");
}

test("what is absent stays absent, and null stays null", () => {
  expect(check({})).toEqual({ policy: {} });
  const lifted = {
    models: null,
    features: null,
    allowIps: null,
    requestsPerMinute: null,
    concurrency: null,
    aliases: null,
    responseFormat: null,
    syncWaitSec: null,
    quota: null,
    priceMultiplier: null,
  };
  expect(check({ ...lifted, expiresAt: null })).toEqual({ policy: lifted, expiresAt: null });
});

test("values are kept as they are, but none twice and ranges in one form", () => {
  const { policy } = check({
    models: ["sandbox-*", "x", "sandbox-*"],
    features: ["compat", "images", "compat"],
    allowIps: ["10.1.2.3/8", "10.0.0.0/8", "::FFFF:192.0.2.7", "2001:DB8:0::1"],
    aliases: { "gpt-image-1": "sandbox-image" },
  });
  expect(policy as object).toMatchObject({
    models: ["sandbox-*", "x"],
    features: ["compat", "images"],
    allowIps: ["10.0.0.0/8", "192.0.2.7/32", "2001:db8::1/128"],
    aliases: { "gpt-image-1": "sandbox-image" },
  });
});

test("the largest and the smallest of each limit are taken", () => {
  for (const terms of [
    { requestsPerMinute: 1, concurrency: 1, syncWaitSec: 1, priceMultiplier: 1, expiresAt: NOW + 1 },
    {
      requestsPerMinute: 1_000_000,
      concurrency: 10_000,
      syncWaitSec: 3600,
      priceMultiplier: 1_000_000_000,
      expiresAt: 253_402_300_799_000,
    },
  ]) {
    const { expiresAt, ...limits } = terms;
    expect(check(terms)).toMatchObject({ policy: limits, expiresAt });
  }
});

describe("a quota", () => {
  const before: Quota = { limit: toMicros(5), reset: "weekly" };
  test.each<[QuotaTerms, Quota | undefined, Quota]>([
    [{ limit: toMicros(7) }, undefined, { limit: toMicros(7), reset: "total" }],
    [{ limit: toMicros(0), reset: "daily" }, undefined, { limit: toMicros(0), reset: "daily" }],
    [{ limit: toMicros(7) }, before, { limit: toMicros(7), reset: "weekly" }],
    [{ reset: "monthly" }, before, { limit: toMicros(5), reset: "monthly" }],
  ])("of %j, where there was %j, is %j", (quota, had, expected) => {
    expect(check({ quota }, had)).toEqual({ policy: { quota: expected } });
  });
});

describe("a refusal names the field first, then what is allowed and what was given:", () => {
  test.each<[KeyTerms, string, string]>([
    [{ requestsPerMinute: 0 }, "requests_per_minute", "an integer from 1 to 1000000, got 0."],
    [{ requestsPerMinute: 1.5 }, "requests_per_minute", "got 1.5."],
    [{ requestsPerMinute: Number.NaN }, "requests_per_minute", "got NaN."],
    [{ requestsPerMinute: 1_000_001 }, "requests_per_minute", "got 1000001."],
    [{ concurrency: 10_001 }, "concurrency", "an integer from 1 to 10000"],
    [{ syncWaitSec: 3601 }, "sync_wait_seconds", "an integer from 1 to 3600"],
    [{ models: [] }, "models", "1 to 100 entries, got 0."],
    [{ models: Array.from({ length: 101 }, (_, i) => `m${i}`) }, "models", "got 101."],
    [{ models: ["a b"] }, "models", 'got "a b".'],
    [{ models: [""] }, "models", 'got "".'],
    [{ models: ["x".repeat(201)] }, "models", `got "${"x".repeat(80)}…".`],
    [{ features: ["audio"] }, "features", 'some of images, videos, compat, got "audio".'],
    [{ features: ["__proto__"] }, "features", 'got "__proto__".'],
    [{ allowIps: ["10.0.0.0/33"] }, "allow_ips", 'got "10.0.0.0/33".'],
    [{ allowIps: ["example.com"] }, "allow_ips", 'got "example.com".'],
    [{ aliases: {} }, "aliases", "1 to 100 entries, got 0."],
    [{ aliases: { "a b": "x" } }, "aliases", 'got "a b=x".'],
    [{ aliases: { a: "" } }, "aliases", 'got "a=".'],
    [{ aliases: JSON.parse('{"__proto__":"x"}') }, "aliases", 'got "__proto__=x".'],
    [{ responseFormat: "png" }, "response_format", 'b64_json, url, got "png".'],
    [{ quota: { limit: toMicros(-1) } }, "quota.limit", 'an amount from 0, got "-0.000001".'],
    [{ quota: { reset: "daily" } }, "quota.limit", "say how much the key may spend"],
    [
      { quota: { limit: toMicros(1), reset: "hourly" } },
      "quota.reset",
      'one of total, daily, weekly, monthly, got "hourly".',
    ],
    [{ priceMultiplier: 0 }, "price_multiplier", "above 0 and at most 1000, got 0."],
    [{ priceMultiplier: 1_000_000_001 }, "price_multiplier", "got 1000.000001."],
    [{ priceMultiplier: Number.NaN }, "price_multiplier", "got NaN."],
    [{ expiresAt: NOW }, "expires_at", 'got "2023-11-14T22:13:20.000Z".'],
    [{ expiresAt: 0.5 }, "expires_at", 'got "1970-01-01T00:00:00.000Z".'],
    [{ expiresAt: 8.64e15 }, "expires_at", 'got "+275760-09-13T00:00:00.000Z".'],
    [{ expiresAt: 8.65e15 }, "expires_at", "got 8650000000000."],
  ])("%j", (terms, param, says) => {
    const refused = refusal(terms);
    expect(refused.param).toBe(param);
    expect(refused.message).toStartWith(`${param} must `);
    expect(refused.message).toContain(says);
  });
});

describe("a callback secret", () => {
  const GIVEN = `whsec_${"B".repeat(32)}`;

  test("is made, taken or ended as it is asked for", () => {
    const made = fakeSecrets().newSigningSecret();
    expect(check({ callbackSecret: "new" }).signing).toEqual({ secret: made });
    expect(check({ callbackSecret: GIVEN, callbackSecretGraceMs: 0 }).signing).toEqual({ secret: GIVEN });
    expect(check({ callbackSecret: GIVEN, callbackSecretGraceMs: 5 }).signing).toEqual({
      secret: GIVEN,
      previousUntil: NOW + 5,
    });
    expect(check({ callbackSecret: null }).signing).toBeNull();
    expect(check({}).signing).toBeUndefined();
  });

  test.each(["", "NEW", "secret-of-mine", `whsec_${"B".repeat(31)}`, `${GIVEN} ${GIVEN}`])(
    "that is %j is refused without being repeated",
    (callbackSecret) => {
      expect(refusal({ callbackSecret })).toEqual({
        param: "callback_secret",
        message:
          'callback_secret must be "new", or whsec_ and 24 to 64 bytes in base64; what was given is not shown.',
      });
    },
  );

  test("has a grace of at most 30 days, and only where it replaces another", () => {
    const graceOf = (callbackSecretGraceMs: number, callbackSecret?: string | null) =>
      refusal({ callbackSecret, callbackSecretGraceMs });
    const param = "callback_secret_grace_seconds";
    const tooLong = "must be from 0 to 2592000 (30 days), got 2592000.001.";
    expect(graceOf(30 * 86_400_000 + 1, "new")).toEqual({ param, message: `${param} ${tooLong}` });
    for (const none of [null, undefined]) {
      expect(graceOf(5, none)).toEqual({
        param,
        message: `${param} is only for a callback secret that takes another one's place.`,
      });
    }
  });
});
