import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backupName, timeOfBackup } from "../../src/backup/backup.ts";
import { checkBackup, copyBackup, findBackup } from "../../src/backup/read.ts";
import { lostObjects } from "../../src/backup/shelf-read.ts";
import { extractArchive, writeArchive } from "../../src/backup/stream.ts";
import {
  type BackupPlan,
  ForeignBackups,
  listBackups,
  removeOldBackups,
  writeBackup,
} from "../../src/backup/write.ts";
import { ALLOWED, AT, contentOf, dataFolder, emptyFolder, pathOf, sha256 } from "./support.ts";

const HOUR = 3_600_000;

test("names order backups by time, and tell those of one second apart", () => {
  expect(backupName(AT, 1)).toBe("2026-11-23T12-00-00Z");
  expect(timeOfBackup(backupName(AT, 2))).toBe(AT);
  for (const other of ["backup.lock", "2026-11-23T12-00-00Z.part", "2026-99-23T12-00-00Z", "x"])
    expect(timeOfBackup(other)).toBeUndefined();
});

test("a backup is laid out as a data folder, and is copied back as it was", async () => {
  const { plan } = dataFolder(["one", "two", "one"]);
  const to = emptyFolder();
  const made = await writeBackup(to, AT, plan);
  expect(made).toMatchObject({ name: "2026-11-23T12-00-00Z", files: 4, missing: [], madeAtMs: AT });
  expect(await findBackup(to, AT)).toBe(made.path);
  expect(await checkBackup(made.path, ALLOWED)).toMatchObject({
    files: 4,
    svc: "1",
    sizeBytes: made.sizeBytes,
  });
  const copy = emptyFolder();
  await copyBackup(made.path, copy);
  expect(contentOf(copy)).toEqual({
    "svc.db": "database of one, two, one",
    "svc.yaml": "settings",
    [pathOf("one")]: "one",
    [pathOf("two")]: "two",
  });
  expect(statSync(join(made.path, "data/svc.db")).mode & 0o777).toBe(0o600);
});

test("a backup is newer than those of the same second, of which the first is gone", async () => {
  const to = emptyFolder();
  const { plan } = dataFolder([]);
  const first = await writeBackup(to, AT, plan);
  const second = await writeBackup(to, AT, plan);
  rmSync(first.path, { recursive: true });
  const third = await writeBackup(to, AT, plan);
  expect([second.name, third.name]).toEqual(["2026-11-23T12-00-00Z-2", "2026-11-23T12-00-00Z-3"]);
  expect(await findBackup(to, AT)).toBe(third.path);
  expect((await writeBackup(to, AT + 1_000, plan)).name).toBe("2026-11-23T12-00-01Z");
});

test("of backups of which one is dated in the future, none is taken for the newest", async () => {
  const to = emptyFolder();
  const { plan } = dataFolder([]);
  const ahead = await writeBackup(to, AT + HOUR, plan);
  expect(await findBackup(to, AT)).toBe(ahead.path);
  const made = await writeBackup(to, AT, plan);
  expect(findBackup(to, AT)).rejects.toThrow(`the date of ${ahead.path} is yet to come`);
  expect(await findBackup(made.path, AT)).toBe(made.path);
  expect(await findBackup(to, AT + HOUR)).toBe(ahead.path);
});

test("a second backup copies what is new, and the first can go", async () => {
  const to = emptyFolder();
  const first = await writeBackup(to, AT, dataFolder(["one", "two"]).plan);
  const second = await writeBackup(to, AT, dataFolder(["one", "two", "three"]).plan);
  expect(second.name).toBe("2026-11-23T12-00-00Z-2");
  const inode = (path: string) => statSync(join(path, "data", pathOf("one"))).ino;
  expect(inode(second.path)).toBe(inode(first.path));
  expect(second.copiedBytes).toBe("database of one, two, threesettingsthree".length);
  expect(await removeOldBackups(to, second.name, 1)).toEqual([first.name]);
  expect(await checkBackup(second.path, ALLOWED)).toMatchObject({ files: 5 });
  expect(readdirSync(to)).toEqual([second.name]);
});

test("after the clock was ahead, what was just made stays, and what was made then goes first", async () => {
  const to = emptyFolder();
  const { plan } = dataFolder(["one"]);
  const make = async (atMs: number) => {
    const { name } = await writeBackup(to, atMs, plan);
    return { name, removed: await removeOldBackups(to, name, 2) };
  };
  const [right, first, second] = [await make(AT), await make(AT + 9_000 * HOUR), await make(AT + HOUR)];
  expect(second.removed).toEqual([first.name]);
  expect(await listBackups(to)).toEqual([right.name, second.name]);
  // Set back to before the others.
  const third = await make(AT - HOUR);
  expect([third.removed, await listBackups(to)]).toEqual([[right.name], [third.name, second.name]]);
});

test("content of another length in the backup before is copied anew", async () => {
  const to = emptyFolder();
  const { plan } = dataFolder(["one"]);
  const first = await writeBackup(to, AT, plan);
  writeFileSync(join(first.path, "data", pathOf("one")), "on");
  const second = await writeBackup(to, AT + HOUR, plan);
  expect(await checkBackup(second.path, ALLOWED)).toMatchObject({ files: 3 });
});

test("a file that the database names and is not there, or is damaged, is told; one deleted meanwhile is not", async () => {
  const { folder, plan, put } = dataFolder(["absent", "damaged", "deleted"], {
    stillNamed: (paths) => paths.filter((path) => path !== pathOf("deleted")),
  });
  rmSync(join(folder, pathOf("absent")));
  rmSync(join(folder, pathOf("deleted")));
  put(pathOf("damaged"), "dAmaged");
  const made = await writeBackup(emptyFolder(), AT, plan);
  const missing = [
    { path: pathOf("damaged"), reason: "damaged" },
    { path: pathOf("absent"), reason: "absent" },
  ];
  expect(made.missing).toEqual(missing as never);
  expect((await checkBackup(made.path, ALLOWED)).missing).toEqual(missing as never);
});

test("a backup that fails leaves nothing, and one that was killed is removed by the next", async () => {
  const to = emptyFolder();
  const { plan } = dataFolder(["one"]);
  const failing = {
    ...plan,
    *files() {
      yield { path: "svc.yaml", from: "/dev/null/none" };
    },
  };
  expect(writeBackup(to, AT, failing)).rejects.toThrow();
  expect(readdirSync(to)).toEqual([]);
  mkdirSync(join(to, "2026-11-23T11-00-00Z.part/data"), { recursive: true });
  mkdirSync(join(to, "of-somebody-else.part"));
  expect(findBackup(to, AT)).rejects.toThrow("no backup of svc");
  const made = await writeBackup(to, AT, plan);
  expect(readdirSync(to).sort()).toEqual([made.name, "of-somebody-else.part"]);
});

test("backups of another data folder are not mixed with", async () => {
  const to = emptyFolder();
  const first = await writeBackup(to, AT, dataFolder(["one"], { source: "acc_1" }).plan);
  expect(writeBackup(to, AT, dataFolder(["one"], { source: "acc_2" }).plan)).rejects.toThrow(ForeignBackups);
  expect(await listBackups(to)).toEqual([first.name]);
});

test("files in the bucket of the service are listed and not copied, in a folder and in an archive", async () => {
  const { folder, plan } = dataFolder(["here"]);
  const content = (text: string) => ({ sha256: sha256(text), sizeBytes: text.length });
  const bucket = { endpoint: "https://s3.example", region: "r", name: "media", prefix: "svc/" };
  const inBucket: BackupPlan = {
    ...plan,
    describe: (copy) => ({ ...plan.describe(copy), bucket }),
    *files(copy) {
      yield* plan.files(copy);
      yield { path: pathOf("there"), from: undefined, expected: content("there") };
      yield { path: pathOf("moved"), from: join(folder, "moved meanwhile"), expected: content("moved") };
      yield { path: pathOf("deleted"), from: join(folder, "deleted"), expected: content("deleted") };
    },
    stillNamed: (paths) => paths.filter((path) => path !== pathOf("deleted")),
  };
  const made = await writeBackup(emptyFolder(), AT, inBucket);
  expect(made).toMatchObject({ files: 3, objects: 2, missing: [], bucket });
  expect(await checkBackup(made.path, ALLOWED)).toMatchObject({ files: 3, objects: 2, bucket });
  const there = async function* () {
    yield content("moved");
  };
  expect(await lostObjects(made.path, there())).toEqual([sha256("there")]);

  const pieces: Uint8Array[] = [];
  const archived = await writeArchive(emptyFolder(), AT, inBucket, async (bytes) => void pieces.push(bytes));
  expect(archived).toMatchObject({ files: 3, objects: 2, missing: [] });
  const to = emptyFolder();
  const source = async function* () {
    yield* pieces;
  };
  expect(await extractArchive(source(), to, ALLOWED)).toBe(3);
  expect(await checkBackup(to, ALLOWED)).toMatchObject({ objects: 2, bucket });
});

test("an archive whose receiver is slow has each file as it was when its turn came", async () => {
  const { folder, plan, put } = dataFolder(["one", "two"]);
  put("svc.yml", "kept short");
  const files: BackupPlan["files"] = function* (copy) {
    yield { path: "svc.yml", from: join(folder, "svc.yml") };
    yield* plan.files(copy);
  };
  const pieces: Uint8Array[] = [];
  const workspace = emptyFolder();
  const summary = await writeArchive(workspace, AT, { ...plan, files }, async (bytes) => {
    pieces.push(bytes);
    const head = Buffer.from(bytes.subarray(0, 100)).toString();
    // Whoever changes them has all the time that the receiver takes.
    if (head.startsWith("data/svc.yaml")) put("svc.yaml", "other settings, which are longer");
    if (head.startsWith("data/svc.yml")) put("svc.yml", "short");
    if (head.startsWith(`data/${pathOf("one")}`)) rmSync(join(folder, pathOf("one")));
  });
  expect(summary.missing).toEqual([]);
  const extracted = emptyFolder();
  await extractArchive(
    (async function* () {
      yield* pieces;
    })(),
    extracted,
    new Set([...ALLOWED, "svc.yml"]),
  );
  await checkBackup(extracted, new Set([...ALLOWED, "svc.yml"]));
  expect(contentOf(join(extracted, "data"))).toEqual({
    "svc.db": "database of one, two",
    ...{ "svc.yaml": "settings", "svc.yml": "kept short" },
    ...{ [pathOf("one")]: "one", [pathOf("two")]: "two" },
  });
  expect(contentOf(workspace)).toEqual({ "svc.db": "database of one, two" });
});
