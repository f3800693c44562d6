import { expect, test } from "bun:test";
import type { Micros } from "../../src/domain/money/money.ts";
import type { HeldAccount, HeldKey, LeftBehind } from "../../src/moving/holdings.ts";
import { outlivedKeys } from "../../src/moving/outlived.ts";
import { type Here, planOwners } from "../../src/moving/plan.ts";

const NOTHING: Here = { marks: [], accounts: [], keys: [] };
const usd = (amount: number) => (amount * 1_000_000) as Micros;
const account = (more: Partial<HeldAccount>): HeldAccount => ({
  ...{ origin: "user 1", name: "mary", notes: [] },
  ...more,
});
const key = (more: Partial<HeldKey>): HeldKey => ({
  ...{ origin: "key a", name: "web", account: "user 1", hash: "a", display: "sk-…", terms: {}, notes: [] },
  ...more,
});

test("a plan says what an account will have and a key may spend", () => {
  const held = {
    accounts: [
      account({ origin: "user 3", name: "nobody with a key" }),
      account({ credit: usd(3), priceMultiplier: 500_000, isSuspended: true, notes: ["owes"] }),
      account({ origin: "user 2", name: "tom" }),
    ],
    keys: [
      key({ terms: { quota: { limit: usd(5), reset: "total" } } }),
      key({ origin: "key c", hash: "c", account: "user 3", name: "refused" }),
      key({ origin: "key d", hash: "d", account: "user 2", name: "of tom" }),
      key({
        origin: "key b",
        hash: "b",
        terms: { quota: { limit: usd(1), reset: "daily" }, priceMultiplier: 1_000_000 },
      }),
    ],
  };
  const { items } = planOwners(held, NOTHING, {
    source: "a",
    problemOf: ({ name }) => (name === "refused" ? "no" : undefined),
    nobodys: "",
  });
  expect(items.map(({ note }) => note)).toEqual([
    "suspended; has 3.000000 USD; pays 0.5 times the price; owes",
    "",
    "may spend 5.000000 USD in total",
    "no",
    "",
    "its name is taken; may spend 1.000000 USD daily; pays 1 times the price",
  ]);
});

test("a key that came before and could not come today is told, unless it was revoked here", () => {
  const mark = (origin: string, target: string) => ({ kind: "key", origin, target }) as const;
  const there = (id: string, revokedAt?: number) => ({
    ...{ id, name: `name of ${id}`, accountId: "acc", hash: id, revokedAt },
  });
  const here: Here = {
    accounts: [],
    keys: [there("key_1"), there("key_2"), there("key_3"), there("key_4", 5)],
    marks: [mark("key a", "key_1"), mark("key b", "key_2"), mark("key c", "key_3"), mark("key d", "key_4")],
  };
  const left = (keyOrigin: string): LeftBehind => ({
    kind: "key",
    from: "x",
    why: "it is blocked there",
    keyOrigin,
  });
  const found = outlivedKeys({ keys: [key({})], left: [left("key b"), left("key d"), left("key e")] }, here);
  const kept = (id: string, why: string) => ({
    ...{ kind: "key", from: `name of ${id}`, to: `name of ${id}`, action: "here" },
    note: `${why}; it came before, and goes on here until svc keys revoke ${id}`,
  });
  expect(found.items as object[]).toEqual([
    kept("key_2", "it is blocked there"),
    kept("key_3", "it is not there any more"),
  ]);
  expect(found.left).toEqual([left("key d"), left("key e")]);
});
