import { expect, test } from "bun:test";
import type { TaskId } from "../../src/domain/ids.ts";
import { createOrphans } from "../../src/service/orphans.ts";

const id = (name: string) => name as TaskId;
const MINUTES = 60_000;

test("a task left behind is taken over once, by an equal request alone", () => {
  const orphans = createOrphans();
  orphans.add("scope", id("one"), 0);
  expect(orphans.adopt("other", 1)).toBeUndefined();
  expect(orphans.adopt("scope", 1)).toBe(id("one"));
  expect(orphans.adopt("scope", 2)).toBeUndefined();
});

test("a task that was taken over elsewhere is not taken over here", () => {
  const orphans = createOrphans();
  orphans.add("scope", id("one"), 0);
  orphans.add("scope", id("two"), 1);
  orphans.forget(id("one"));
  orphans.forget(id("three"));
  expect(orphans.adopt("scope", 2)).toBe(id("two"));
  expect(orphans.any()).toBe(false);
});

test("equal requests left behind together are taken over one each, the first left first", () => {
  const orphans = createOrphans();
  orphans.add("scope", id("one"), 0);
  orphans.add("scope", id("two"), 1);
  expect(orphans.adopt("scope", 2)).toBe(id("one"));
  expect(orphans.adopt("scope", 2)).toBe(id("two"));
  expect(orphans.adopt("scope", 2)).toBeUndefined();
});

test("a task is forgotten ten minutes after it was left", () => {
  const orphans = createOrphans();
  orphans.add("scope", id("one"), 0);
  expect(orphans.adopt("scope", 10 * MINUTES)).toBeUndefined();
  orphans.add("scope", id("two"), 0);
  expect(orphans.adopt("scope", 10 * MINUTES - 1)).toBe(id("two"));
});

test("a task that is left again by the one who took it over can be taken over again", () => {
  const orphans = createOrphans();
  orphans.add("scope", id("one"), 0);
  orphans.adopt("scope", 1);
  orphans.add("scope", id("one"), 9 * MINUTES);
  expect(orphans.adopt("scope", 12 * MINUTES)).toBe(id("one"));
});

test("no more than ten thousand are kept, and the oldest go first", () => {
  const orphans = createOrphans();
  for (let i = 0; i <= 10_000; i++) orphans.add(`scope-${i}`, id(`task-${i}`), i);
  expect(orphans.adopt("scope-0", 10_001)).toBeUndefined();
  expect(orphans.adopt("scope-1", 10_001)).toBe(id("task-1"));
});
