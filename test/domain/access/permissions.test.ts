import { describe, expect, test } from "bun:test";
import { type KeyPolicy, OPEN_POLICY } from "../../../src/domain/access/key-policy.ts";
import { allowsFeature, allowsModel, matchesPattern } from "../../../src/domain/access/permissions.ts";

describe("a pattern", () => {
  test.each([
    ["sandbox-image", "sandbox-image"],
    ["*", "anything"],
    ["*", ""],
    ["sandbox-*", "sandbox-"],
    ["sandbox-*", "sandbox-video-motion"],
    ["*-image", "sandbox-image"],
    ["a*b*c", "a-b-b-c"],
    ["**a**", "bab"],
    ["*ab", "aab"],
  ])("%s stands for %j", (pattern, text) => {
    expect(matchesPattern(pattern, text)).toBe(true);
  });

  test.each([
    ["sandbox-image", "sandbox-image-2"],
    ["sandbox-*", "sandbox"],
    ["*-image", "image"],
    ["a*b*c", "a-c-b"],
    ["", "a"],
    ["a.c", "abc"],
    ["a?c", "abc"],
    ["A*", "abc"],
  ])("%s does not stand for %j", (pattern, text) => {
    expect(matchesPattern(pattern, text)).toBe(false);
  });

  test("that is made to take long does not", () => {
    const startedAt = performance.now();
    expect(matchesPattern(`${"*a".repeat(100)}b`, "a".repeat(200))).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

test("what a policy does not mention is allowed, and a list allows what it names alone", () => {
  expect([allowsModel(OPEN_POLICY, "x"), allowsFeature(OPEN_POLICY, "videos")]).toEqual([true, true]);
  const policy: KeyPolicy = { models: ["a", "sandbox-*"], features: ["images"] };
  expect(["a", "sandbox-image", "b"].map((model) => allowsModel(policy, model))).toEqual([true, true, false]);
  expect((["images", "videos"] as const).map((each) => allowsFeature(policy, each))).toEqual([true, false]);
});
