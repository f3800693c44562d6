import { expect, test } from "bun:test";
import type { ListQuery } from "../../src/domain/lists.ts";
import type { ListPage } from "../../src/domain/ports/account-store.ts";
import { readAll, readSlices } from "../../src/service/lists.ts";

const ROWS = Array.from({ length: 1_000 }, (_, i) => ({ id: String(i).padStart(4, "0") }));

async function read({ limit, after = "" }: ListPage) {
  return ROWS.filter(({ id }) => id > after).slice(0, limit);
}

/** The ids of a part of the list, and what its last slice says of what follows. */
async function partOf(query?: ListQuery) {
  const ids: string[] = [];
  let end: string | undefined;
  for await (const { items, next } of readSlices(read, query)) {
    ids.push(...items.map(({ id }) => id));
    end = next;
  }
  return { ids, next: end };
}

test("a part of a list says after what it goes on, and the last one says nothing", async () => {
  const ids = ROWS.map(({ id }) => id);
  expect(await partOf()).toEqual({ ids, next: undefined });
  expect(await partOf({ limit: 250 })).toEqual({ ids: ids.slice(0, 250), next: "0249" });
  expect(await partOf({ limit: 250, after: "0249" })).toEqual({ ids: ids.slice(250, 500), next: "0499" });
  expect(await partOf({ limit: 250, after: "0749" })).toEqual({ ids: ids.slice(750), next: undefined });
  expect(await partOf({ after: "0999" })).toEqual({ ids: [], next: undefined });
  expect(await readAll(read)).toEqual(ROWS);
});

test("other work runs while a long list is read", async () => {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  turn();
  await readAll(read);
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(10);
});
