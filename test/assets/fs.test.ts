import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmod, mkdir, readdir, rename, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openContentFiles } from "../../src/assets/fs.ts";
import { createAssetStore, openAssetStore } from "../../src/assets/open.ts";
import type { PutOptions } from "../../src/domain/ports/asset-store.ts";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import { createIds } from "../../src/runtime/ids.ts";
import { type AssetStoreUnderTest, describeAssetStore } from "../contracts/asset-store.ts";
import { inPieces, picture, png } from "../helpers/media.ts";
import { contentFiles, makeFsStore } from "../helpers/media-store.ts";
import { mp4 } from "../helpers/media-video.ts";

describeAssetStore("asset store in a folder", makeFsStore);

const DRAFT = `asset_${"0".repeat(26)}`;
const ANY: PutOptions = { accept: ["image", "video"], maxBytes: 50_000_000, sanitize: false };
let subject: AssetStoreUnderTest & { readonly directory: string };
beforeEach(async () => {
  subject = await makeFsStore();
});
afterEach(() => subject.remove());

test("a file lies under its hash in one of 256 folders, and nowhere twice", async () => {
  const bytes = await png(4, 4);
  const { sha256 } = await subject.store.put(bytes, ANY);
  await subject.store.put(bytes, ANY);
  await subject.store.put(inPieces(bytes), ANY);
  const path = join(subject.directory, "sha256", sha256.slice(0, 2), sha256);
  expect(await contentFiles(subject.directory)).toEqual([path]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a file that a version before stored is read, held and removed where it lies, and not stored again", async () => {
  const bytes = await png(4, 4);
  const stored = await subject.store.put(bytes, ANY);
  const [path = ""] = await contentFiles(subject.directory);
  const earlier = join(dirname(path), stored.sha256.slice(2, 4), stored.sha256);
  await mkdir(dirname(earlier));
  await rename(path, earlier);
  const { directory } = subject;
  const open = () => openAssetStore({ directory, newTemporaryName: () => "other", now: () => 3_000_000 });
  expect(await (await open().open(stored))?.bytes()).toEqual(bytes);
  await utimes(earlier, 1_000, 1_000);
  expect(await open().put(bytes, ANY)).toEqual(stored);
  expect((await stat(earlier)).mtimeMs).toBe(3_000_000);
  const hold = await open().hold(stored);
  await hold?.release(true);
  expect([hold?.file, await contentFiles(directory)]).toEqual([stored, [earlier]]);
  await truncate(earlier, 10);
  expect(await open().put(bytes, ANY)).toEqual(stored);
  expect(await contentFiles(directory)).toEqual([path, earlier]);
  expect(await (await open().open(stored))?.bytes()).toEqual(bytes);
  expect(await open().removeUnheld(stored.sha256)).toBe(true);
  expect(await contentFiles(directory)).toEqual([]);
});

test("a file that was cut short on disk is put right by the next put of its content", async () => {
  const bytes = await png(4, 4);
  const stored = await subject.store.put(bytes, ANY);
  const [path = ""] = await contentFiles(subject.directory);
  await truncate(path, 10);
  // A new process: what was stored a moment ago is in the memory of the one that stored it.
  const { directory } = subject;
  const open = () => openAssetStore({ directory, newTemporaryName: () => "other" });
  expect(await open().open(stored)).toBeUndefined();
  expect(await subject.store.put(bytes, ANY)).toEqual(stored);
  expect(await (await open().open(stored))?.bytes()).toEqual(bytes);
});

test("a file that was cut short or removed is not there, even where memory has it", async () => {
  const stored = await subject.store.put(await png(4, 4), ANY);
  const [path = ""] = await contentFiles(subject.directory);
  await truncate(path, 10);
  expect(await subject.store.open(stored)).toBeUndefined();
  await rm(path);
  expect(await subject.store.open(stored)).toBeUndefined();
  await mkdir(path);
  expect(await subject.store.open(stored)).toBeUndefined();
  await rm(join(subject.directory, "sha256"), { recursive: true });
  await writeFile(join(subject.directory, "sha256"), "a file in place of a folder");
  expect(await subject.store.open(stored)).toBeUndefined();
});

test("a small file that is opened again is in memory from then on, unless it is to be read lazily", async () => {
  const bytes = await png(4, 4);
  const stored = await subject.store.put(bytes, ANY);
  const [path = ""] = await contentFiles(subject.directory);
  const { directory } = subject;
  const store = openAssetStore({ directory, newTemporaryName: () => "other" });
  const others = bytes.toReversed();
  const opened = await Promise.all([store.open(stored), store.open(stored), store.open(stored)]);
  await writeFile(path, others);
  expect(await Promise.all(opened.map((content) => content?.bytes()))).toEqual([others, bytes, bytes]);
  expect(await (await store.open(stored))?.slice(1, 3).bytes()).toEqual(bytes.subarray(1, 3));
  expect(await (await store.open(stored, { isLazy: true }))?.bytes()).toEqual(others);
  const asVideo = await store.open({ ...stored, type: "video/mp4" });
  expect([asVideo?.type, await asVideo?.bytes()]).toEqual(["video/mp4", bytes]);
});

test("a hash that is a path leads nowhere", async () => {
  const bytes = await png(4, 4);
  const store = openAssetStore({
    directory: join(subject.directory, "b"),
    newTemporaryName: () => "draft",
  });
  await store.put(bytes, ANY);
  await writeFile(join(subject.directory, "secret"), "12345");
  expect(await store.open({ sha256: "../../secret", sizeBytes: 5, type: "image/png" })).toBeUndefined();
});

test("an emptied folder tree is made again", async () => {
  const bytes = await png(4, 4);
  await subject.store.put(bytes, ANY);
  await rm(join(subject.directory, "sha256"), { recursive: true });
  const stored = await subject.store.put(bytes, ANY);
  expect(await (await subject.store.open(stored))?.bytes()).toEqual(bytes);
});

test("a staged file that somebody else removed is released without a word", async () => {
  const staging = await subject.store.stage(await png(4, 4), ANY);
  await staging.keep();
  await rm(join(subject.directory, "sha256"), { recursive: true });
  await staging.release(false);
  expect(await contentFiles(subject.directory)).toEqual([]);
});

test("a cut short file that a staging put right stays right when the staging is not used", async () => {
  const stored = await subject.store.put(await png(4, 4), ANY);
  const [path = ""] = await contentFiles(subject.directory);
  await truncate(path, 10);
  const staging = await subject.store.stage(await png(4, 4), ANY);
  await staging.keep();
  await staging.release(false);
  expect(await (await subject.store.open(stored))?.bytes()).toEqual(await png(4, 4));
});

test("removing temporary files counts them and touches nothing else", async () => {
  expect(await subject.store.removeTemporary()).toBe(0);
  const stored = await subject.store.put(await png(), ANY);
  const temporary = (name: string) => join(subject.directory, "tmp", name);
  await writeFile(temporary(createIds({ now: () => 0 }).create("asset")), "half");
  await writeFile(temporary(DRAFT), "");
  await writeFile(temporary("letter.txt"), "of somebody else");
  expect(await subject.store.removeTemporary()).toBe(2);
  expect(await readdir(temporary(""))).toEqual(["letter.txt"]);
  expect(await subject.store.open(stored)).toBeDefined();
});

test("temporary files that somebody wrote to lately stay, where others store in the same folder", async () => {
  await subject.store.put(await png(), ANY);
  const paths = [DRAFT, DRAFT.replace("0", "1")].map((name) => join(subject.directory, "tmp", name));
  for (const path of paths) await writeFile(path, "half");
  const { mtimeMs } = await stat(paths[1] ?? "");
  await utimes(paths[0] ?? "", mtimeMs / 1000 - 3_000, mtimeMs / 1000 - 3_000);
  // By the time of the folder's own machine, whatever this one's is.
  expect(await subject.store.removeTemporary(2_000_000)).toBe(1);
  expect(await subject.leftovers()).toBe(1);
});

test("a process killed at any moment leaves whole files or none, and temporary files only in their folder", async () => {
  const script = `
    import { openAssetStore } from ${JSON.stringify(join(import.meta.dir, "../../src/assets/open.ts"))};
    import { mp4 } from ${JSON.stringify(join(import.meta.dir, "../helpers/media-video.ts"))};
    let names = 0;
    const store = openAssetStore({ directory: process.argv[1], newTemporaryName: () => "asset_" + (process.pid + "x" + names++).padStart(26, "0") });
    for (let i = 1; ; i += 1) {
      await store.put(await mp4({ frames: i, width: 64 + 16 * (i % 9) }), ${JSON.stringify(ANY)});
      if (i === 1) console.log("the first is stored");
    }`;
  for (const delayMs of [5, 25, 60, 110]) {
    const child = Bun.spawn([process.execPath, "-e", script, subject.directory], {
      stdout: "pipe",
      stderr: "inherit",
    });
    await child.stdout.getReader().read();
    await Bun.sleep(delayMs);
    child.kill("SIGKILL");
    await child.exited;
  }
  const files = await contentFiles(subject.directory);
  expect(files.length).toBeGreaterThan(0);
  for (const path of files) {
    const hash = new Bun.CryptoHasher("sha256").update(await Bun.file(path).bytes()).digest("hex");
    expect(path.endsWith(`/${hash}`)).toBe(true);
  }
  await subject.store.removeTemporary();
  expect(await subject.leftovers()).toBe(0);
});

test("a piece that could not be written, and is sent again, is received once", async () => {
  const files = openContentFiles({ directory: subject.directory, newTemporaryName: () => DRAFT });
  let isFull = false;
  const draft = async () => {
    const made = await files.draft();
    const { append } = made;
    const failing: typeof append = async (bytes) => {
      if (isFull) throw new StorageError("full", "Files cannot be stored.");
      await append(bytes);
    };
    return Object.assign(made, { append: failing });
  };
  const bytes = await mp4();
  const store = createAssetStore({ ...files, draft }, {});
  const arriving = await store.receive();
  for await (const piece of inPieces(bytes, 400)) {
    isFull = true;
    const error = await arriving.append(piece).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StorageError);
    isFull = false;
    await arriving.append(piece);
  }
  const staged = await arriving.stage(ANY);
  await staged.keep();
  await staged.release(true);
  expect(staged.file).toEqual(await subject.store.put(bytes, ANY));
  expect(await (await store.open(staged.file))?.bytes()).toEqual(bytes);
});

test("a read-only folder is a StorageError", async () => {
  // Root may write anywhere, whatever the mode says; a folder that is a file stops even root.
  if (process.getuid?.() === 0) {
    console.warn("Skipped: root may write to read-only folders.");
    return;
  }
  await chmod(subject.directory, 0o500);
  const error = await subject.store.put(await png(), ANY).catch((thrown: unknown) => thrown);
  await chmod(subject.directory, 0o700);
  expect(error).toBeInstanceOf(StorageError);
  expect(error).toMatchObject({ kind: "read_only" });
});

test("a read-only file system is a StorageError, and files there can still be read", async () => {
  if (!mount("ro-check", "size=1m")) return;
  await withMount("size=4m", async (directory, remount) => {
    const store = openAssetStore({ directory, newTemporaryName: () => "draft" });
    const stored = await store.put(await png(), ANY);
    remount("ro,size=4m");
    const error = await store.put(await png(2, 2), ANY).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StorageError);
    expect(error).toMatchObject({ kind: "read_only" });
    expect(await (await store.open(stored))?.bytes()).toEqual(await png());
  });
});

test("a full disk is a StorageError, leaves nothing behind, and heals when there is room again", async () => {
  if (!mount("full-check", "size=1m")) return;
  await withMount("size=256k", async (directory) => {
    let names = 0;
    const store = openAssetStore({ directory, newTemporaryName: () => `draft-${names++}` });
    const large = new Uint8Array(await picture(400, 400).png({ compressionLevel: 0 }).toBuffer());
    for (const source of [large, inPieces(large), inPieces(await mp4({ frames: 400 }))]) {
      const error = await store.put(source, ANY).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StorageError);
      expect(error).toMatchObject({ kind: "full" });
    }
    const staging = await store.stage(large, ANY);
    expect(await staging.keep().catch((thrown: unknown) => thrown)).toMatchObject({ kind: "full" });
    await staging.release(false);
    expect(await store.removeTemporary()).toBe(0);
    expect(await contentFiles(directory)).toEqual([]);
    expect((await store.put(await png(), ANY)).width).toBe(1);
  });
});

/** Whether this process may mount at all; says so when not. */
function mount(name: string, options: string): boolean {
  const point = join(subject.directory, name);
  spawnSync("mkdir", ["-p", point]);
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", point]).status === 0;
  if (isMounted) spawnSync("umount", [point]);
  else console.warn("Skipped: mounting a small file system needs root.");
  return isMounted;
}

async function withMount(
  options: string,
  work: (directory: string, remount: (options: string) => void) => Promise<void>,
): Promise<void> {
  const point = join(subject.directory, "mount");
  await mkdir(point);
  expect(spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", point]).status).toBe(0);
  const remount = (changed: string) =>
    expect(spawnSync("mount", ["-o", `remount,${changed}`, point]).status).toBe(0);
  try {
    await work(point, remount);
  } finally {
    spawnSync("umount", ["-l", point]);
  }
}
