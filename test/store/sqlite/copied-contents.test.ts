import { expect, test } from "bun:test";
import { outputsKept, outputsReady } from "../../../src/domain/task/transition.ts";
import { contentsOf, copyDatabase, namedOf } from "../../../src/store/copy.ts";
import { openStore } from "../../../src/store/open.ts";
import { openDatabase } from "../../../src/store/sqlite/connection.ts";
import { applyMigrations } from "../../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import {
  ACCOUNT,
  addAccount,
  admit,
  attemptId,
  beginOne,
  NOW,
  newAsset,
  taskId,
  temporaryDatabase,
} from "../../helpers/store.ts";

const [A, B, C] = ["a".repeat(64), "b".repeat(64), "c".repeat(64)] as const;

test("a backup has the outputs that are stored while others of their task are still fetched", async () => {
  const file = migratedFile();
  const { path } = file;
  const store = openStore({ path });
  await addAccount(store, { id: ACCOUNT });
  await admit(store);
  const lease = await beginOne(store);
  const remote = { kind: "remote", ref: "x" } as const;
  await store.tasks.apply(lease, outputsReady(NOW, attemptId(1), [remote]));
  const outputs = [A, B, A].map((sha256) => ({ kind: "stored", file: { ...newAsset(), sha256 } }) as const);
  const due = { dueAt: NOW + 1, failures: 1 };
  await store.tasks.apply(lease, outputsKept(NOW, attemptId(1), [...outputs, remote], due));
  const copy = `${path}.copy`;
  copyDatabase({ path }, copy);
  const { sizeBytes } = newAsset();
  expect([...contentsOf(copy)]).toEqual([A, B].map((sha256) => ({ sha256, sizeBytes })));
  expect(namedOf({ path }, [C, B, A]).sort()).toEqual([A, B]);
  await store.stop();
  file.remove();
});

test("a backup has them of a database of an earlier version, whose attempts name their task by its id", () => {
  const { path, remove } = temporaryDatabase();
  const db = openDatabase(path);
  applyMigrations(db, MIGRATIONS.slice(0, 23));
  db.run("pragma foreign_keys = off");
  db.run(
    `insert into task (id, account_id, key_id, request_id, kind, model, origin, held_micros, created_at, status, stage, pool, due_at, lane,
       route_index, attempts, failures, progress, cancel_requested, quote, request, change)
     values (?, 'a', 'k', 'r', 'image', 'm', '', 0, 0, 'processing', 'finalizing', 'under_way', 0, 'sandbox', 0, 1, 0, 0, 0, '{}', '{}', 1)`,
    [taskId(1)],
  );
  db.run(
    `insert into attempt (id, task_id, sequence, provider, upstream_model, state, outputs, started_at)
     values ('1', ?, 1, 'sandbox', 'm', 'accepted', ?, 0)`,
    [taskId(1), JSON.stringify([{ kind: "stored", file: { sha256: A, sizeBytes: 7 } }])],
  );
  db.stop();
  expect([...contentsOf(path)]).toEqual([{ sha256: A, sizeBytes: 7 }]);
  expect(namedOf({ path }, [A, B])).toEqual([A]);
  remove();
});
