import { afterEach, beforeEach, expect, test } from "bun:test";
import type { StagedFile } from "../../src/domain/ports/asset-store.ts";
import { createIds } from "../../src/runtime/ids.ts";
import { createSecrets } from "../../src/runtime/secrets.ts";
import { uploadOnce } from "../../src/service/upload-once.ts";
import type { Store } from "../../src/store/open.ts";
import { fakeClock } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { PRINCIPAL } from "../helpers/principal.ts";
import { ACCOUNT, addAccount, keyId, NOW } from "../helpers/store.ts";

const KEPT_MS = 60_000;

let store: Store;
let clock: ReturnType<typeof fakeClock>;
let released: boolean[];

beforeEach(async () => {
  store = openEmptyStore();
  await addAccount(store, { id: ACCOUNT });
  clock = fakeClock();
  released = [];
});
afterEach(() => store.stop());

function staged(content: string): StagedFile {
  const file = { sha256: content.repeat(64), sizeBytes: 9, type: "image/png", width: 1, height: 1 } as const;
  return {
    ...{ file: { ...file, durationMs: undefined }, keep: async () => {} },
    release: async (isUsed) => void released.push(isUsed),
  };
}

function upload(content: string, key: string | undefined, seal = "one", owner = PRINCIPAL) {
  const deps = {
    ...{ uploads: store.uploads, clock, ids: createIds(clock), secrets: createSecrets() },
    ...{ uploadKeptMs: () => KEPT_MS, uploadedBytes: () => 1_000, trouble: () => undefined },
    seal: { sign: (text: string) => `${seal} ${text}` },
  };
  return uploadOnce(deps, { owner, staged: staged(content), name: undefined, field: "file" }, key);
}

test("a key's file is as good as new once it has expired, though its row is still there", async () => {
  const first = await upload("a", "k");
  clock.set(NOW + KEPT_MS - 1);
  expect(await upload("a", "k")).toEqual({ file: first.file, replayed: true });
  clock.set(first.file.expiresAt);
  const later = await upload("b", "k");
  expect(later.replayed).toBe(false);
  expect(later.file.expiresAt).toBe(first.file.expiresAt + KEPT_MS);
  expect((await store.uploads.byId(later.file.id))?.sha256).toBe("b".repeat(64));
  expect(await store.uploads.byId(first.file.id)).toBeUndefined();
});

test("an address is that of one content for ever: another file with the key, once the first is gone, has one of its own", async () => {
  const first = await upload("a", "k");
  await expect(upload("b", "k")).rejects.toMatchObject({ code: "idempotency_conflict" });
  await store.uploads.remove(first.file.id, ACCOUNT);
  const other = await upload("b", "k");
  expect(other.file.id).not.toBe(first.file.id);
  expect(await store.uploads.byId(first.file.id)).toBeUndefined();
  await expect(upload("a", "k")).rejects.toMatchObject({ code: "idempotency_conflict" });
  await store.uploads.remove(other.file.id, ACCOUNT);
  expect((await upload("a", "k")).file.id).toBe(first.file.id);
});

test("a file's id follows from the service's own key, the API key and the caller's, so that nobody else can tell it", async () => {
  const other = { ...PRINCIPAL, keyId: keyId(2) };
  const uploads = [
    upload("a", "k"),
    upload("a", "l"),
    upload("a", "k", "two"),
    upload("a", "k", "one", other),
  ];
  const ids = (await Promise.all(uploads)).map(({ file }) => file.id);
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^file_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
});

test("a conflict keeps nothing of what was sent, and the first file stays", async () => {
  const { file } = await upload("a", "k");
  await expect(upload("b", "k")).rejects.toMatchObject({ code: "idempotency_conflict" });
  expect(released).toEqual([true, false]);
  expect((await store.uploads.byId(file.id))?.sha256).toBe(file.sha256);
});
