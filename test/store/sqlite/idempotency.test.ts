import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { openStore, type Store } from "../../../src/store/open.ts";
import { openConnection } from "../../../src/store/sqlite/connection.ts";
import { prepareIdempotency } from "../../../src/store/sqlite/task-store/idempotency.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import { ACCOUNT, bySystem, micros, NOW, newClaim, newTask, taskId } from "../../helpers/store.ts";

const RECORDS = 18_000;
let file: ReturnType<typeof migratedFile>;
let store: Store | undefined;
beforeEach(() => {
  file = migratedFile();
});
afterEach(async () => {
  await store?.stop();
  file.remove();
});

const claimOf = (number: number) => newClaim({ key: `order-${number}`, expiresAt: NOW + number });

async function admitAll(tasks: Store["tasks"]): Promise<void> {
  for (let from = 1; from <= RECORDS; from += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, i) =>
        tasks.admit({ task: newTask({ number: from + i }), assets: [], idempotency: claimOf(from + i) }),
      ),
    );
  }
}

function indexed(): number {
  using db = new Database(file.path, { readonly: true });
  return db.query<{ count: number }, []>("select count(*) as count from idempotency_index").get()?.count ?? 0;
}

test("a key is found in memory, in the index on disk, and after a restart; once ended it is free again", async () => {
  store = openStore({ path: file.path });
  const account = { id: ACCOUNT, name: "a", mode: "unlimited", credit: micros(0), createdAt: NOW } as const;
  await store.accounts.createAccount(account, bySystem());
  await admitAll(store.tasks);
  const replayOf = (number: number) => store?.tasks.findReplay(claimOf(number), NOW - 1);
  const expected = (number: number) =>
    ({ kind: "replayed", taskId: taskId(number), held: micros(40_000) }) as const;
  const asked = [1, 9_000, 16_384, RECORDS - 1, RECORDS];
  for (const number of asked) expect(await replayOf(number)).toEqual(expected(number));
  expect(indexed()).toBeGreaterThan(0);

  await store.stop();
  store = openStore({ path: file.path });
  for (const number of asked) expect(await replayOf(number)).toEqual(expected(number));

  expect(await store.tasks.expireIdempotency(NOW + 9_000, RECORDS)).toBe(9_000);
  expect(await replayOf(9_000)).toBeUndefined();
  expect(await replayOf(9_001)).toEqual(expected(9_001));
  const again = { task: newTask({ number: RECORDS + 1 }), assets: [], idempotency: claimOf(9_000) };
  expect(await store.tasks.admit(again)).toEqual({ kind: "admitted", isLow: false });
});

test("the index on disk gets no record that was undone, whether its id was used again or not", async () => {
  const connection = openConnection({ path: file.path });
  const { db, write } = connection;
  const records = prepareIdempotency(connection);
  const put = (first: number, last: number) => {
    for (let number = first; number <= last; number++)
      records.put(claimOf(number), taskId(number), micros(40_000));
  };
  const undone = (first: number, last: number) =>
    write(() => {
      put(first, last);
      throw new Error("undone");
    });
  const find = (number: number) => write(() => records.find(claimOf(number), NOW - 1)?.kind);
  const stored = () =>
    db.query("select id, digest from idempotency order by id").values() as [number, Uint8Array][];
  const inIndex = () => db.query("select id, digest from idempotency_index order by id").values();

  await expect(undone(100_001, 100_005)).rejects.toThrow("undone");
  // Their ids are given to these.
  await write(() => put(1, 16_895));
  // The first of these begins a merge.
  await expect(undone(200_001, 200_005)).rejects.toThrow("undone");
  for (let turns = 0; inIndex().length < 16_895; turns++) {
    if (turns === 100) throw new Error("Nothing was merged.");
    await write(() => undefined);
  }
  expect(inIndex()).toEqual(stored());
  await write(() => put(16_896, 16_900));
  expect(await Promise.all([1, 16_895, 16_896, 16_900].map(find))).toEqual(Array(4).fill("replayed"));
  expect(await Promise.all([100_001, 200_001].map(find))).toEqual([undefined, undefined]);
  await connection.stop();
});
