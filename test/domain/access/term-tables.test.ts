import { describe, expect, test } from "bun:test";
import { ACCOUNT_TERMS } from "../../../src/domain/access/account-terms.ts";
import { KEY_TERMS } from "../../../src/domain/access/key-policy.ts";
import type { TermTable } from "../../../src/domain/access/term.ts";
import { termForms } from "../../../src/domain/access/term-form.ts";
import { toMicros } from "../../../src/domain/money/money.ts";

describe.each<[string, TermTable]>([
  ["a key", KEY_TERMS],
  ["an account", ACCOUNT_TERMS],
])("the terms of %s", (_, table) => {
  const terms = Object.values(table);

  test("have each a field, a flag and a label of its own", () => {
    const flags = terms.flatMap((term) => (term.kind === "quota" ? [term, term.reset] : [term]));
    for (const names of [
      terms.map(({ wire }) => wire),
      terms.map(({ label }) => label),
      flags.map(({ flag }) => flag.split(" ")[0]),
    ]) {
      expect(names).toEqual([...new Set(names)]);
    }
  });

  test("are null where they are not set", () => {
    expect(termForms(table, {})).toEqual(Object.fromEntries(terms.map(({ wire }) => [wire, null])));
  });
});

test("a term of each kind has its form in JSON", () => {
  const values = {
    expiresAt: 1_700_000_000_999,
    models: ["sandbox-*"],
    features: ["images"],
    allowIps: ["10.0.0.0/8"],
    requestsPerMinute: 60,
    aliases: { draw: "sandbox-image" },
    responseFormat: "url",
    syncWaitSec: 120,
    quota: { limit: toMicros(25_000_000), reset: "monthly" },
    priceMultiplier: 1_250_000,
  };
  expect(termForms(KEY_TERMS, values)).toMatchObject({
    expires_at: 1_700_000_000,
    models: ["sandbox-*"],
    features: ["images"],
    allow_ips: ["10.0.0.0/8"],
    requests_per_minute: 60,
    aliases: { draw: "sandbox-image" },
    response_format: "url",
    sync_wait_seconds: 120,
    quota: { limit: "25.000000", reset: "monthly" },
    price_multiplier: "1.25",
  });
  expect(termForms(ACCOUNT_TERMS, { mode: "prepaid", creditLimit: toMicros(5) })).toMatchObject({
    mode: "prepaid",
    credit_limit: "0.000005",
  });
});
