import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createBookReadings } from "../../src/app/book-readings.ts";
import { countReclaimable } from "../../src/app/reclaimable.ts";
import { openStore } from "../../src/store/open.ts";
import { ACCOUNT, addAccount, admit, countingTokens, endOne, newAsset, newTask } from "../helpers/store.ts";

const DAY_MS = 86_400_000;
/** Later than the files of the test, which the system dates. */
const NOW = Date.now() + 2 * 3_600_000;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A data folder with a task that ended ten days ago, one of yesterday with a file of the first, and files of nobody. */
async function folder() {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-reclaimable-"));
  folders.push(dataDir);
  const put = (path: string, bytes: number) => {
    const at = join(dataDir, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, new Uint8Array(bytes));
    utimesSync(at, (NOW - DAY_MS) / 1000, (NOW - DAY_MS) / 1000);
  };
  const store = openStore({ path: join(dataDir, "svc.db"), ids: countingTokens() });
  await addAccount(store, { id: ACCOUNT });
  const [b, c] = ["b".repeat(64), "c".repeat(64)] as const;
  const inputs = [b, c].map((sha256, index) =>
    newAsset({ number: index + 1, index, sha256, role: "input", sizeBytes: 1000 }),
  );
  const createdAt = NOW - 20 * DAY_MS;
  await store.tasks.admit({ task: newTask({ createdAt }), assets: inputs });
  await endOne(store, "completed", { at: NOW - 10 * DAY_MS });
  await admit(store, { number: 2, createdAt, callbackUrl: "https://example.com/hook" });
  await endOne(store, "completed", { at: NOW - DAY_MS - 1 });
  await store.stop();
  put(`assets/sha256/dd/dd/${"d".repeat(64)}`, 77);
  put("sandbox/jobs/1.json", 50);
  put("logs/1.jsonl", 40);
  return { dataDir, assets: join(dataDir, "assets") };
}

test("every way to free space is counted by age, and nothing is changed", async () => {
  const at = await folder();
  const before = readdirSync(at.dataDir, { recursive: true, encoding: "utf8" }).sort();
  const found = await countReclaimable({ ...at, now: NOW, isInUse: false }, async () => true);
  expect(found).toMatchObject({ unneeded: 77, played: 50, logs: 40, cache: 0, isWhole: true });
  expect(found.inputs).toEqual([2000, 2000, 0, 0]);
  // Both tasks have one content, which goes with the later one.
  expect(found.outputs).toEqual([1234, 0, 0, 0]);
  // A callback that is still to be sent stays.
  expect(found.callbacks).toEqual([0, 0, 0, 0]);
  expect(readdirSync(at.dataDir, { recursive: true, encoding: "utf8" }).sort()).toEqual(before);
  const partly = await countReclaimable({ ...at, now: NOW, isInUse: false }, async () => false);
  expect(partly.isWhole).toBe(false);
});

test("a server counts in a thread, and those who ask at once get one count", async () => {
  const at = await folder();
  const books = createBookReadings({ path: join(at.dataDir, "svc.db"), keepSeals: async () => {} });
  const [one, other] = await Promise.all([books.reclaimable(at), books.reclaimable(at)]);
  expect(one).toBe(other);
  expect(one).toMatchObject({ played: 50, logs: 40, isWhole: true });
  books.stop();
});
