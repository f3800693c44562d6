import { expect, test } from "bun:test";
import { createKeptPages } from "../../src/app/kept-usage-pages.ts";

const page = (characters: number, generation = 0) => ({ generation, sums: "x".repeat(characters) });
const pages = (...numbers: readonly number[]) => new Map(numbers.map((number) => [number, page(4)]));

test("pages are kept as long as there is room, and one that changed takes the place of the one before", () => {
  const kept = createKeptPages(10);
  kept.keep({ pages: pages(1, 2, 3), first: 1 });
  expect([...kept.all().keys()]).toEqual([1, 2]);
  kept.keep({ pages: new Map([[2, page(6, 1)]]), first: 1 });
  expect(kept.all().get(2)?.generation).toBe(1);
  // What no longer fits is not kept as it was before either.
  kept.keep({ pages: new Map([[2, page(7, 2)]]), first: 1 });
  expect([...kept.all().keys()]).toEqual([1]);
});

test("pages whose tasks are all gone make room for later ones", () => {
  const kept = createKeptPages(10);
  kept.keep({ pages: pages(1, 2), first: 1 });
  kept.keep({ pages: pages(3), first: 2 });
  expect([...kept.all().keys()]).toEqual([2, 3]);
  kept.keep({ pages: new Map(), first: 0 });
  expect([...kept.all().keys()]).toEqual([2, 3]);
});

test("there is no room once a page found none, until another one goes", () => {
  const kept = createKeptPages(10);
  kept.keep({ pages: pages(1, 2), first: 1 });
  expect(kept.room()).toBe(2);
  kept.keep({ pages: pages(3), first: 1 });
  expect(kept.room()).toBe(0);
  kept.keep({ pages: new Map(), first: 2 });
  expect(kept.room()).toBe(6);
});
