import { afterAll, describe, expect, test } from "bun:test";
import type { UploadedFile } from "../../../src/domain/media/uploaded-file.ts";
import { describeUploadStore } from "../../contracts/upload-store.ts";
import {
  onBoth,
  openEmptyPostgres,
  type PostgresStore,
  stopPostgres,
  withNodes,
} from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { ACCOUNT, accountId, bySystem, fileId, micros, NOW } from "../../helpers/store.ts";

const OTHER = accountId(2);
const ROOM = { files: 1_000, bytes: 1_000_000 };

const file = (number: number, more: Partial<UploadedFile> = {}): UploadedFile => ({
  ...{ id: fileId(number), accountId: ACCOUNT, sha256: "a".repeat(64), sizeBytes: 10, type: "image/png" },
  ...{ name: undefined, width: 4, height: 3, durationMs: undefined, createdAt: NOW, expiresAt: NOW + 1_000 },
  ...more,
});

async function addAccounts({ accounts }: PostgresStore): Promise<void> {
  for (const id of [ACCOUNT, OTHER])
    await accounts.createAccount(
      { id, name: id, mode: "unlimited", credit: micros(0), createdAt: NOW },
      bySystem(),
    );
}

/** What an account has, as a refused file is told. */
async function usedBy({ uploads }: PostgresStore, id = ACCOUNT) {
  const refused = await uploads.add(file(999, { accountId: id }), { files: 0, bytes: 0 });
  return refused.kind === "full" ? refused.used : undefined;
}

describe.skipIf(!CAN_TEST_POSTGRES)("uploads in PostgreSQL", () => {
  afterAll(stopPostgres);
  describeUploadStore("uploaded files in PostgreSQL", () => openEmptyPostgres());

  test(
    "an account's bounds hold, and its total is exact, whichever nodes add and remove at once",
    withNodes(async (...stores) => {
      await addAccounts(stores[0]);
      const added = await onBoth(stores, 30, ({ uploads }, i) =>
        uploads.add(file(i + 1), { files: 20, bytes: 1_000 }),
      );
      expect(added.filter(({ kind }) => kind === "added")).toHaveLength(20);
      expect(await usedBy(stores[1])).toEqual({ files: 20, bytes: 200 });
      // Both remove each file: one of them finds it.
      const removed = await onBoth(stores, 60, ({ uploads }, i) =>
        uploads.remove(fileId(Math.floor(i / 2) + 1), ACCOUNT),
      );
      expect(removed.filter((contents) => contents !== undefined)).toHaveLength(20);
      expect(removed.flatMap((contents) => contents ?? [])).toEqual(["a".repeat(64)]);
      expect(await usedBy(stores[0])).toEqual({ files: 0, bytes: 0 });
    }),
  );

  test(
    "an id that two accounts want at once is one's, and the other is told whose file it is",
    withNodes(async (...stores) => {
      await addAccounts(stores[0]);
      for (let number = 1; number <= 10; number++) {
        const kinds = await onBoth(stores, 2, ({ uploads }, i) =>
          uploads.add(file(number, { accountId: i === 0 ? ACCOUNT : OTHER }), ROOM),
        );
        expect(kinds.map(({ kind }) => kind).toSorted()).toEqual(["added", "taken"]);
      }
      const [mine, others] = [await usedBy(stores[0]), await usedBy(stores[0], OTHER)];
      expect((mine?.files ?? 0) + (others?.files ?? 0)).toBe(10);
    }),
  );

  test(
    "files that have expired are removed once, by whichever nodes look",
    withNodes(async (...stores) => {
      await addAccounts(stores[0]);
      for (let number = 1; number <= 20; number++)
        await stores[0].uploads.add(file(number, { accountId: number % 2 ? ACCOUNT : OTHER }), ROOM);
      const expired = await onBoth(stores, 4, ({ uploads }) => uploads.expire(NOW + 1_000, 20));
      expect(expired.reduce((sum, { files }) => sum + files, 0)).toBe(20);
      for (const id of [ACCOUNT, OTHER]) expect(await usedBy(stores[1], id)).toEqual({ files: 0, bytes: 0 });
    }),
  );
});
