import { expect, test } from "bun:test";
import type { UploadedFile } from "../../../src/domain/media/uploaded-file.ts";
import { purgeAccount } from "../../../src/service/purge-account.ts";
import { verifyContents } from "../../../src/service/verify-contents.ts";
import { contentsOf, copyDatabase, namedOf } from "../../../src/store/copy.ts";
import { openStore } from "../../../src/store/open.ts";
import { openReclaimable } from "../../../src/store/reclaimable-reading.ts";
import { readStock } from "../../../src/store/stock-reading.ts";
import { migratedFile } from "../../helpers/open-store.ts";
import {
  ACCOUNT,
  addAccount,
  assetId,
  bySystem,
  fileId,
  NOW,
  newAsset,
  newTask,
} from "../../helpers/store.ts";

const [A, B, C] = ["a".repeat(64), "b".repeat(64), "c".repeat(64)] as const;
const ROOM = { files: 9, bytes: 99_999 };

const upload = (number: number, sha256: string): UploadedFile => ({
  ...{ id: fileId(number), accountId: ACCOUNT, sha256, sizeBytes: 10, type: "image/png", name: undefined },
  ...{ width: 4, height: 3, durationMs: undefined, createdAt: NOW, expiresAt: NOW + 1_000 },
});

/** A database with a task's file A, and uploads of A and B. */
async function setup() {
  const file = migratedFile();
  const store = openStore({ path: file.path });
  await addAccount(store, { id: ACCOUNT });
  const asset = { ...newAsset(), id: assetId(1), sha256: A, sizeBytes: 10, role: "input" } as const;
  await store.tasks.admit({ task: newTask(), assets: [asset] });
  for (const [number, sha256] of [A, B].entries()) await store.uploads.add(upload(number, sha256), ROOM);
  const end = async () => {
    await store.stop();
    file.remove();
  };
  return { store, path: file.path, end };
}

test("a backup has the contents of uploads, each once, and knows which are still named", async () => {
  const { path, end } = await setup();
  const copy = `${path}.copy`;
  copyDatabase({ path }, copy);
  expect([...contentsOf(copy)]).toEqual([
    { sha256: A, sizeBytes: 10 },
    { sha256: B, sizeBytes: 10 },
  ]);
  expect(namedOf({ path }, [C, B, A]).sort()).toEqual([A, B]);
  await end();
});

test("a check of all files tells of a damaged upload, which no task has", async () => {
  const { store, end } = await setup();
  const verified = await verifyContents({
    contents: { rehash: async (sha256) => (sha256 === B ? undefined : sha256) },
    retention: store.retention,
    uploads: store.uploads,
  });
  const damaged = [{ sha256: B, what: "missing", tasks: [], uploads: [fileId(1)] }] as const;
  expect(verified).toEqual({ files: 2, bytes: 20, damaged: [...damaged] });
  await end();
});

test("the stock counts uploads beside the files of tasks, and no uploads where there are none", async () => {
  const { path, store, end } = await setup();
  const counted = () => readStock({ path }).assets;
  expect(counted()).toEqual([
    { role: "input", count: 1, bytes: 10 },
    { role: "upload", count: 2, bytes: 20 },
  ]);
  for (const number of [0, 1]) await store.uploads.remove(fileId(number), ACCOUNT);
  expect(counted()).toEqual([{ role: "input", count: 1, bytes: 10 }]);
  await end();
});

test("what a task's removal would free leaves out what an upload has", async () => {
  const { path, store, end } = await setup();
  const reading = openReclaimable({ path, isInUse: true });
  expect(reading.files(0, 9).map(({ isShared }) => isShared)).toEqual([1]);
  expect(await reading.neededContents([A, B, C])).toEqual([A, B]);
  reading.stop();
  await store.uploads.remove(fileId(0), ACCOUNT);
  const after = openReclaimable({ path, isInUse: true });
  expect(after.files(0, 9).map(({ isShared }) => isShared)).toEqual([0]);
  after.stop();
  await end();
});

test("a purge removes an account's uploads with their contents, and counts what is left", async () => {
  const { store, end } = await setup();
  await store.tasks.requestCancel(newTask().id, ACCOUNT, NOW);
  const removed: string[] = [];
  const purge = await purgeAccount(
    {
      ...{ tasks: store.tasks, retention: store.retention, uploads: store.uploads },
      removeContents: async (contents) => removed.push(...contents) && contents.length,
      ...{ now: () => NOW, actor: bySystem().actor },
    },
    ACCOUNT,
  );
  expect(purge).toMatchObject({ kind: "purged", tasks: 1, files: 2, filesLeft: 0, remains: { files: 0 } });
  expect(removed.sort()).toEqual([A, B]);
  expect(await store.uploads.page({ limit: 9 })).toEqual({ files: [], next: undefined });
  await end();
});
