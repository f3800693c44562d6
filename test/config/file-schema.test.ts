import { describe, expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import { settingsSchema } from "../../src/app/settings-report.ts";
import { createSettings } from "../../src/config/settings.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { createSchemaChecker } from "../../src/toolkit/json-schema.ts";
import { listSettings, type Setting } from "../../src/toolkit/settings/setting.ts";

const settings = listSettings(createSettings({ cores: availableParallelism() }, PROVIDERS));
const schema = settingsSchema();
const checker = createSchemaChecker({ annotations: ["x-must"], allErrors: true });
/** Formats are for editors; the service checks addresses itself. */
const withoutFormats: object = JSON.parse(
  JSON.stringify(schema, (name, each) => (name === "format" && each === "uri" ? undefined : each)),
);
const fits = (value: object) => checker.violations(withoutFormats, value).length === 0;

/** A settings file that has one setting. */
const fileWith = (key: string, value: unknown): object =>
  key.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as object;

/** Values at the edges of what a schema takes. */
function edgesOf(given: Readonly<Record<string, unknown>> = {}): unknown[] {
  const { type, enum: choices, minimum, maximum, items, anyOf, maxItems } = given;
  if (Array.isArray(choices)) return choices;
  if (Array.isArray(anyOf)) return anyOf.flatMap((each) => edgesOf(each));
  if (type === "integer" || type === "number") return [minimum, maximum];
  if (type === "boolean") return [true, false];
  if (type !== "array" || typeof items !== "object") return [];
  const [first] = edgesOf(items as Readonly<Record<string, unknown>>);
  return first === undefined ? [] : [[first], Array(Number(maxItems ?? 3)).fill(first)];
}

describe.each(settings.map((each): [string, Setting<unknown>] => [each.key, each]))("%s", (key, setting) => {
  test("has a schema whose edges and default the service takes", () => {
    const { parse, fallback } = setting;
    expect(parse.schema).toBeDefined();
    for (const value of edgesOf(parse.schema)) {
      expect([value, parse(value).ok]).toEqual([value, true]);
      expect([value, fits(fileWith(key, value))]).toEqual([value, true]);
    }
    if (fallback === undefined) return;
    const written = parse.toFile?.(fallback) ?? fallback;
    expect(fits(fileWith(key, written))).toBe(true);
    expect(parse(written)).toEqual({ ok: true, value: fallback });
  });
});

test("the schema takes what documents show, and refuses mistakes", () => {
  const line = { sku: "sandbox-image", unit: "output", amount: "0.015000" };
  const fits200 = {
    pricing: { "sandbox-image": { lines: [line] } },
    aliases: { "gpt-image-1": "sandbox-image" },
  };
  expect(fits(fits200)).toBe(true);
  const account = { name: "main", key_env: "MAIN_KEY", submits_per_minute: 60 };
  expect(fits({ providers: { fal: { accounts: [account] }, house: { base_url: "http://10.0.0.1" } } })).toBe(
    true,
  );
  const check = { words: ["nude"], on_outage: "allow" };
  expect(fits({ moderation: { checks: { slurs: check }, apply: ["slurs"], models: { "veo*": [] } } })).toBe(
    true,
  );
  for (const wrong of [
    { prot: 1 },
    { port: 70_000 },
    { log: { level: "loud" } },
    { log: { levle: "info" } },
    { pricing: { "sandbox-image": { lines: [{ ...line, amount: 0.2 }] } } },
    { providers: { fal: { accounts: [{ name: "a", key: "sk-live" }] } } },
    { moderation: { checks: { slurs: { word: ["x"] } } } },
  ])
    expect([wrong, fits(wrong)]).toEqual([wrong, false]);
});
