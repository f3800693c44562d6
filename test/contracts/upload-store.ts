import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { UploadedFile } from "../../src/domain/media/uploaded-file.ts";
import {
  ACCOUNT,
  accountId,
  addAccount,
  assetId,
  bySystem,
  fileId,
  type MakeStore,
  NOW,
  newAsset,
  newTask,
  withStore,
} from "../helpers/store.ts";

const [A, B] = ["a".repeat(64), "b".repeat(64)] as const;
const ROOM = { files: 100, bytes: 1_000_000 };
const OTHER = accountId(2);

const file = (number: number, more: Partial<UploadedFile> = {}): UploadedFile => ({
  ...{ id: fileId(number), accountId: ACCOUNT, sha256: A, sizeBytes: 10, type: "image/png" },
  ...{ name: undefined, width: 4, height: 3, durationMs: undefined, createdAt: NOW + number },
  expiresAt: NOW + 1_000,
  ...more,
});

/** What every implementation of `UploadStore` does. `make` gives an empty store each time. */
export function describeUploadStore(name: string, make: MakeStore): void {
  describe(name, () => {
    describeRecords(make);
    describeBounds(make);
    describeContents(make);
  });
}

function describeRecords(make: MakeStore): void {
  test(
    "a file is found by its id, whole, until it is removed by its owner",
    withStore(make, async (store) => {
      await addAccount(store, { id: OTHER });
      const { uploads } = store;
      const video = file(2, { type: "video/mp4", durationMs: 1_500, name: "a clip", accountId: OTHER });
      expect(await uploads.add(file(1), ROOM)).toEqual({ kind: "added" });
      expect(await uploads.add(video, ROOM)).toEqual({ kind: "added" });
      expect([await uploads.byId(fileId(1)), await uploads.byId(fileId(2))]).toEqual([file(1), video]);
      expect(await uploads.byId(fileId(3))).toBeUndefined();
      expect(await uploads.remove(fileId(2), ACCOUNT)).toBeUndefined();
      expect(await uploads.remove(fileId(1), ACCOUNT)).toEqual([]);
      expect(await uploads.remove(fileId(2), OTHER)).toEqual([A]);
      expect(await uploads.remove(fileId(2), OTHER)).toBeUndefined();
      expect([await uploads.byId(fileId(1)), await uploads.byId(fileId(2))]).toEqual([undefined, undefined]);
    }),
  );

  test(
    "of files whose ids begin as only one may, there is one, whatever its content",
    withStore(make, async (store) => {
      const { uploads } = store;
      const beginning = fileId(1).slice(0, -1);
      const [first, second] = [file(1), file(2, { sha256: B })];
      expect(second.id.startsWith(beginning)).toBe(true);
      const added = await Promise.all([first, second].map((each) => uploads.add(each, ROOM, beginning)));
      expect(added).toEqual([{ kind: "added" }, { kind: "taken", by: first }]);
      expect(await uploads.byId(second.id)).toBeUndefined();
      expect(await uploads.add(file(100), ROOM, fileId(100).slice(0, -1))).toEqual({ kind: "added" });
      await uploads.remove(first.id, ACCOUNT);
      expect(await uploads.add(second, ROOM, beginning)).toEqual({ kind: "added" });
    }),
  );

  test(
    "the files that have a content are told, of every account, expired or not",
    withStore(make, async (store) => {
      await addAccount(store, { id: OTHER });
      const { uploads } = store;
      const all = [file(3, { expiresAt: NOW - 1 }), file(1, { accountId: OTHER }), file(2, { sha256: B })];
      for (const each of all) await uploads.add(each, ROOM);
      expect(await uploads.ofContent(A)).toEqual([fileId(3), fileId(1)]);
      await uploads.remove(fileId(1), OTHER);
      expect(await uploads.ofContent(A)).toEqual([fileId(3)]);
      expect(await uploads.ofContent("c".repeat(64))).toEqual([]);
    }),
  );

  test(
    "an id that is in use is told with its file, and nothing changes",
    withStore(make, async ({ uploads }) => {
      await uploads.add(file(1), ROOM);
      const again = file(1, { sha256: B, name: "another" });
      expect(await uploads.add(again, ROOM)).toEqual({ kind: "taken", by: file(1) });
      expect(await uploads.page({ limit: 9 })).toEqual({ files: [file(1)], next: undefined });
    }),
  );

  test(
    "pages have an account's files, newest first, whatever is removed between two of them",
    withStore(make, async (store) => {
      await addAccount(store, { id: OTHER });
      const { uploads } = store;
      for (const number of [1, 2, 3, 4, 5]) {
        // Three of the same moment.
        await uploads.add(file(number, { createdAt: NOW + Math.min(number, 3) }), ROOM);
      }
      await uploads.add(file(6, { accountId: OTHER }), ROOM);
      const first = await uploads.page({ account: ACCOUNT, limit: 2 });
      expect(first.files.map(({ id }) => id)).toEqual([fileId(5), fileId(4)]);
      await uploads.remove(fileId(4), ACCOUNT);
      const second = await uploads.page({ account: ACCOUNT, limit: 2, after: first.next });
      expect(second.files.map(({ id }) => id)).toEqual([fileId(3), fileId(2)]);
      const third = await uploads.page({ account: ACCOUNT, limit: 2, after: second.next });
      expect([third.files.map(({ id }) => id), third.next]).toEqual([[fileId(1)], undefined]);
      const all = await uploads.page({ limit: 9 });
      expect(all.files.map(({ id }) => id)).toEqual([6, 5, 3, 2, 1].map(fileId));
    }),
  );
}

function describeBounds(make: MakeStore): void {
  test(
    "what would be too much for its account is refused, with what the account has",
    withStore(make, async (store) => {
      await addAccount(store, { id: OTHER });
      const { uploads } = store;
      await uploads.add(file(1), ROOM);
      const full = { kind: "full", used: { files: 1, bytes: 10 } } as const;
      expect(await uploads.add(file(2), { files: 9, bytes: 19 })).toEqual(full);
      expect(await uploads.add(file(2), { files: 1, bytes: 99 })).toEqual(full);
      expect(await uploads.byId(fileId(2))).toBeUndefined();
      expect(await uploads.add(file(2, { accountId: OTHER }), { files: 1, bytes: 10 })).toEqual({
        kind: "added",
      });
      expect(await uploads.add(file(3), { files: 2, bytes: 20 })).toEqual({ kind: "added" });
      await uploads.remove(fileId(1), ACCOUNT);
      expect(await uploads.add(file(4), { files: 2, bytes: 20 })).toEqual({ kind: "added" });
    }),
  );

  test("what an account has is what was added and not removed, in any order", async () => {
    const step = fc.record({
      number: fc.integer({ min: 1, max: 6 }),
      what: fc.constantFrom("add", "remove", "expire", "removeOf"),
      bytes: fc.integer({ min: 1, max: 50 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        await withStore(make, async ({ uploads }) => {
          for (const { number, what, bytes } of steps) {
            if (what === "add")
              await uploads.add(file(number, { sizeBytes: bytes, expiresAt: NOW + number }), ROOM);
            if (what === "remove") await uploads.remove(fileId(number), ACCOUNT);
            if (what === "expire") await uploads.expire(NOW + number, 2);
            if (what === "removeOf") await uploads.removeOf(ACCOUNT, 1);
          }
          const { files } = await uploads.page({ limit: 99 });
          const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
          const refused = await uploads.add(file(9), { files: 0, bytes: 0 });
          expect(refused).toEqual({ kind: "full", used: { files: files.length, bytes } });
        })();
      }),
      { numRuns: 20 },
    );
  });
}

function describeContents(make: MakeStore): void {
  test(
    "files that have expired go first to expire first, some at a time, and their contents are told once nothing has them",
    withStore(make, async ({ uploads }) => {
      await uploads.add(file(1, { expiresAt: NOW + 3 }), ROOM);
      await uploads.add(file(2, { expiresAt: NOW + 1, sha256: B }), ROOM);
      await uploads.add(file(3, { expiresAt: NOW + 2 }), ROOM);
      expect(await uploads.expire(NOW, 9)).toEqual({ files: 0, contents: [] });
      expect(await uploads.byId(fileId(2))).toBeDefined();
      expect(await uploads.expire(NOW + 9, 2)).toEqual({ files: 2, contents: [B] });
      expect(await uploads.expire(NOW + 9, 2)).toEqual({ files: 1, contents: [A] });
    }),
  );

  test(
    "a content is needed while an uploaded file or a task has it",
    withStore(make, async (store) => {
      const { uploads, retention } = store;
      await uploads.add(file(1), ROOM);
      await uploads.add(file(2, { sha256: B }), ROOM);
      const asset = { ...newAsset(), id: assetId(7), sha256: A, role: "input" } as const;
      await store.tasks.admit({ task: newTask(), assets: [asset] });
      expect(await retention.neededContents([A, B, "c".repeat(64)])).toEqual([A, B]);
      expect(await retention.contentsAfter("", 9)).toEqual([
        { sha256: A, sizeBytes: asset.sizeBytes },
        { sha256: B, sizeBytes: 10 },
      ]);
      expect(await uploads.remove(fileId(1), ACCOUNT)).toEqual([]);
      expect(await uploads.remove(fileId(2), ACCOUNT)).toEqual([B]);
      expect(await retention.neededContents([A, B])).toEqual([A]);
    }),
  );

  test(
    "a task's removal tells no content that an uploaded file has",
    withStore(make, async (store) => {
      const assets = [A, B].map((sha256, index) => ({
        ...newAsset(),
        ...{ id: assetId(index), index, sha256, role: "input" as const },
      }));
      await store.tasks.admit({ task: newTask(), assets });
      await store.uploads.add(file(1), ROOM);
      await store.tasks.requestCancel(newTask().id, ACCOUNT, NOW);
      expect(await store.retention.remove(newTask().id, NOW)).toEqual({ kind: "removed", contents: [B] });
    }),
  );

  test(
    "an account's files remain until all are removed",
    withStore(make, async (store) => {
      const { uploads, retention } = store;
      for (const number of [1, 2, 3]) await uploads.add(file(number), ROOM);
      expect((await retention.remainsOf(ACCOUNT)).files).toBe(3);
      expect(await uploads.removeOf(ACCOUNT, 2)).toEqual({ files: 2, contents: [] });
      expect(await uploads.removeOf(ACCOUNT, 2)).toEqual({ files: 1, contents: [A] });
      await retention.anonymise(ACCOUNT, bySystem());
      expect((await retention.remainsOf(ACCOUNT)).files).toBe(0);
    }),
  );
}
