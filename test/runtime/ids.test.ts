import { expect, test } from "bun:test";
import { TypeID } from "typeid-js";
import { isId } from "../../src/domain/ids.ts";
import { createIds } from "../../src/runtime/ids.ts";

test("ids are TypeIDs of version 7 UUIDs, and sort by their time", () => {
  let now = 1_795_251_504_123;
  const ids = createIds({ now: () => now++ });
  const made = Array.from({ length: 200 }, () => ids.create("task"));
  expect(made.toSorted()).toEqual(made);
  for (const [i, id] of made.entries()) {
    expect(isId("task", id)).toBe(true);
    const uuid = TypeID.fromString<string>(id).toUUID();
    expect(uuid[14]).toBe("7");
    expect(Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16)).toBe(1_795_251_504_123 + i);
    expect(TypeID.fromUUID("task", uuid).toString()).toBe(id as string as `task_${string}`);
  }
});

test("asset ids tell nothing of when they were made", () => {
  const ids = createIds({ now: () => 0 });
  const made = Array.from({ length: 200 }, () => ids.create("asset"));
  expect(made.every((id) => isId("asset", id))).toBe(true);
  expect(new Set(made.map((id) => id.slice(6, 12))).size).toBeGreaterThan(190);
});
