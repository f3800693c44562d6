import { describe, expect, test } from "bun:test";
import type { ProviderId } from "../../src/domain/ids.ts";
import { baseOf, keepingBase } from "../../src/providers/account.ts";

describe("the address of an account", () => {
  test("is the usual one without one of its own", () => {
    expect(baseOf({}, "https://api.example.com/v1")).toBe("https://api.example.com/v1");
  });

  test("keeps the usual path where it is an origin only", () => {
    expect(baseOf({ baseUrl: "https://eu.example.com" }, "https://api.example.com/v1")).toBe(
      "https://eu.example.com/v1",
    );
    expect(baseOf({ baseUrl: "https://eu.example.com/" }, "https://api.example.com")).toBe(
      "https://eu.example.com",
    );
  });

  test("replaces the usual one whole where it has a path", () => {
    expect(baseOf({ baseUrl: "https://eu.example.com/v2/" }, "https://api.example.com/v1")).toBe(
      "https://eu.example.com/v2",
    );
  });
});

test("an attempt that began at another base goes on there", () => {
  const made: string[] = [];
  const adapter = keepingBase("https://new.example", (base) => {
    made.push(base);
    return {
      ...{ id: "x" as ProviderId, lane: "x" as ProviderId, submitIsIdempotent: false, concurrency: 1 },
      submit: async () => ({ kind: "operation", operation: base }),
    };
  });
  expect(adapter.terms?.()).toEqual({ base: "https://new.example" });
  expect(adapter.withTerms?.({ base: "https://new.example" })).toBe(adapter);
  const old = adapter.withTerms?.({ base: "https://old.example" });
  expect(adapter.withTerms?.({ base: "https://old.example" })).toBe(old);
  expect(adapter.withTerms?.("nonsense")).toBe(adapter);
  expect(made).toEqual(["https://new.example", "https://old.example"]);
});

test("an account that stops releases what it has at each of its bases", async () => {
  const stopped: string[] = [];
  const adapter = keepingBase("https://new.example", (base) => ({
    ...{ id: "x" as ProviderId, lane: "x" as ProviderId, submitIsIdempotent: false, concurrency: 1 },
    submit: async () => ({ kind: "operation", operation: base }),
    stop: async () => void stopped.push(base),
  }));
  adapter.withTerms?.({ base: "https://old.example" });
  await adapter.stop?.();
  expect(stopped).toEqual(["https://new.example", "https://old.example"]);
});
