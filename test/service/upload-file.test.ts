import { afterAll, expect, test } from "bun:test";
import type { StoredFile } from "../../src/domain/media/asset.ts";
import { MediaError, type StagedFile } from "../../src/domain/ports/asset-store.ts";
import { stageUpload, type UploadFileDeps, uploadFile } from "../../src/service/upload-file.ts";
import { findUpload, listUploads, readUpload, removeUpload } from "../../src/service/uploaded-files.ts";
import { countingIds, fakeClock } from "../helpers/engine.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { ACCOUNT, accountId, addAccount, fileId } from "../helpers/store.ts";

const stops: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(stops.map((stop) => stop())));

const CONTENT: StoredFile = {
  ...{ sha256: "a".repeat(64), sizeBytes: 10, type: "image/png", width: 2, height: 2, durationMs: undefined },
};

async function setup(given: Partial<Pick<UploadFileDeps, "uploadedBytes" | "trouble">> = {}) {
  const store = openEmptyStore();
  stops.push(store.stop);
  await addAccount(store, { id: ACCOUNT });
  const [done, removed, clock]: [string[], string[], ReturnType<typeof fakeClock>] = [[], [], fakeClock()];
  const deps = {
    ...{ uploads: store.uploads, retention: store.retention, clock, ids: countingIds() },
    uploadKeptMs: () => 60_000,
    uploadedBytes: () => 100,
    trouble: () => undefined,
    assets: { removeUnheld: async (sha256: string) => removed.push(sha256) > 0 },
    log: { debug() {}, info() {}, warn() {}, error() {} },
    ...given,
  };
  const staged = (sha256 = CONTENT.sha256): StagedFile => ({
    file: { ...CONTENT, sha256 },
    keep: async () => void done.push("kept"),
    release: async (isUsed) => void done.push(isUsed ? "stays" : "dropped"),
  });
  const upload = (more: Partial<Parameters<typeof uploadFile>[1]> = {}) =>
    uploadFile(deps, { owner: { accountId: ACCOUNT }, staged: staged(), field: "file", ...more });
  return { deps, done, removed, clock, staged, upload };
}

test("a file is kept before it is recorded, and found until it expires", async () => {
  const { deps, done, clock, upload } = await setup();
  const file = await upload({ name: "a fox" });
  expect(done).toEqual(["kept", "stays"]);
  expect(file).toMatchObject({ ...CONTENT, name: "a fox", expiresAt: file.createdAt + 60_000 });
  clock.set(file.expiresAt - 1);
  expect(await findUpload(deps, file.id)).toEqual(file);
  expect((await listUploads(deps, { accountId: ACCOUNT }, { limit: 9 })).files).toEqual([file]);
  clock.set(file.expiresAt);
  expect(await findUpload(deps, file.id)).toBeUndefined();
  expect((await listUploads(deps, { accountId: ACCOUNT }, { limit: 9 })).files).toEqual([]);
  await expect(readUpload(deps, { accountId: ACCOUNT }, file.id)).rejects.toMatchObject({
    code: "not_found",
  });
});

test("a file stays no longer than the other files of its account", async () => {
  const { upload } = await setup();
  const { createdAt, expiresAt } = await upload({ owner: { accountId: ACCOUNT, retainSec: 5 } });
  expect(expiresAt - createdAt).toBe(5_000);
  const longer = await upload({ owner: { accountId: ACCOUNT, retainSec: 5_000 } });
  expect(longer.expiresAt - longer.createdAt).toBe(60_000);
});

test("an id that was told before gets one content: the same again is answered as the first time", async () => {
  const { done, staged, upload } = await setup();
  const first = await upload({ id: fileId(7) });
  expect([first.id, await upload({ id: fileId(7) })]).toEqual([fileId(7), first]);
  done.length = 0;
  const refused = { code: "invalid_request", param: "file" };
  await expect(upload({ id: fileId(7), staged: staged("b".repeat(64)) })).rejects.toMatchObject(refused);
  const owner = { accountId: accountId(2) };
  await expect(upload({ id: fileId(7), owner })).rejects.toMatchObject(refused);
  expect(done).toEqual(["kept", "dropped", "kept", "dropped"]);
});

test("of what cannot be stored or is too much nothing is kept", async () => {
  const full = await setup({ uploadedBytes: () => 19 });
  await full.upload();
  full.done.length = 0;
  await expect(full.upload()).rejects.toMatchObject({
    code: "request_too_large",
    facts: { kind: "uploads_full", used: { files: 1, bytes: 10 }, most: { files: 10_000, bytes: 19 } },
  });
  expect(full.done).toEqual(["kept", "dropped"]);
  const trouble = new Error("the disk is full");
  const stuck = await setup({ trouble: () => trouble });
  await expect(stuck.upload()).rejects.toBe(trouble);
  expect(stuck.done).toEqual(["dropped"]);
});

test("a removed file's content goes with the last that has it", async () => {
  const { deps, removed, upload } = await setup();
  const [first, second] = [await upload(), await upload()];
  await removeUpload(deps, { accountId: ACCOUNT }, first.id);
  expect(removed).toEqual([]);
  await removeUpload(deps, { accountId: ACCOUNT }, second.id);
  expect(removed).toEqual([CONTENT.sha256]);
});

test("what is no usable file is refused by the field it came in", async () => {
  const broken = () => Promise.reject(new MediaError("damaged", "is damaged"));
  await expect(stageUpload("content", { accountId: ACCOUNT }, broken)).rejects.toMatchObject({
    ...{ code: "invalid_request", param: "content", message: "content is damaged." },
  });
});
