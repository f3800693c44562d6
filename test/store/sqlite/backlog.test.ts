import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareBacklog } from "../../../src/store/sqlite/backlog.ts";
import { createCallbackStore } from "../../../src/store/sqlite/callback-store.ts";
import { openConnection } from "../../../src/store/sqlite/connection.ts";
import { migratedFile } from "../../helpers/open-store.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-backlog-"));
afterAll(() => rmSync(folder, { recursive: true }));

const ADD = "insert into task (lane, pool, created_at) values ('a', 'ready', 5000)";

let databases = 0;

function openShared() {
  databases += 1;
  const path = join(folder, `${databases}.db`);
  const own = new Database(path);
  own.run("pragma journal_mode = wal");
  own.run("create table task (id integer primary key, lane text, pool text, created_at integer)");
  own.run("create index task_ready on task (pool, lane)");
  const read = prepareBacklog(own, {
    table: "task",
    pools: { ready: "task_ready" },
    group: (row) => `${row}.lane`,
  });
  return { own, other: new Database(path), read };
}

test("what waits is counted as this connection changes it", () => {
  const { own, read } = openShared();
  expect(read()).toEqual([]);
  own.run(ADD);
  own.run(ADD);
  expect(read()).toEqual([{ name: "a", count: 2, oldestSec: 5 }]);
  own.run("update task set pool = null where id = 1");
  expect(read()).toEqual([{ name: "a", count: 1, oldestSec: 5 }]);
});

test("what another process wrote counts, too, and leaves no wrong count behind", () => {
  const { own, other, read } = openShared();
  own.run(ADD);
  expect(read()).toEqual([{ name: "a", count: 1, oldestSec: 5 }]);
  other.run(ADD);
  other.run(ADD);
  expect(read()).toEqual([{ name: "a", count: 3, oldestSec: 5 }]);
  // One that this connection has not counted yet leaves at its hand.
  other.run(ADD);
  own.run("update task set pool = null where id = 4");
  expect(read()).toEqual([{ name: "a", count: 3, oldestSec: 5 }]);
});

test("nothing is kept up to date for the console's history, which counts once a minute", async () => {
  const { path, remove } = migratedFile();
  const connection = openConnection({ path });
  const callbacks = createCallbackStore(connection);
  const triggers = () => connection.db.query("select 1 from temp.sqlite_master where type = 'trigger'").all();
  expect(await callbacks.owedCount()).toBe(0);
  expect(triggers()).toEqual([]);
  await callbacks.owed();
  expect(triggers()).not.toEqual([]);
  await connection.stop();
  remove();
});
