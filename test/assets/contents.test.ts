import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openStoredContents } from "../../src/assets/contents.ts";
import { openAssetStore } from "../../src/assets/open.ts";
import { collectContents, UNUSED_MS } from "../../src/service/collect-contents.ts";
import { inPieces, picture, png } from "../helpers/media.ts";

let directory: string;
const NOW = 1_800_000_000_000;
const OPTIONS = { accept: ["image"], maxBytes: 1e6, sanitize: true } as const;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "svc-contents-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const pathOf = (sha256: string) => join(directory, "sha256", sha256.slice(0, 2), sha256);
/** Where versions before stored it. */
const earlierPathOf = (sha256: string) =>
  join(directory, "sha256", sha256.slice(0, 2), sha256.slice(2, 4), sha256);

function moveToEarlier(sha256: string): void {
  mkdirSync(dirname(earlierPathOf(sha256)), { recursive: true });
  renameSync(pathOf(sha256), earlierPathOf(sha256));
}

/** Puts a file there as if it had been stored then. @returns its hash */
function place(text: string, usedAt = NOW - 2 * UNUSED_MS): string {
  const sha256 = createHash("sha256").update(text).digest("hex");
  mkdirSync(dirname(pathOf(sha256)), { recursive: true });
  writeFileSync(pathOf(sha256), text);
  age(sha256, usedAt);
  return sha256;
}

function age(sha256: string, usedAt: number): void {
  utimesSync(pathOf(sha256), usedAt / 1000, usedAt / 1000);
}

/** Collects while these are needed. `asked` is called before each answer. */
function collect(needed: ReadonlySet<string>, { isTrial = false, asked = () => {}, at = NOW } = {}) {
  return collectContents(
    {
      contents: openStoredContents(directory),
      retention: {
        async neededContents(all) {
          asked();
          return all.filter((each) => needed.has(each));
        },
      },
      now: () => at,
      pause: async () => true,
    },
    { isTrial },
  );
}

describe("a collection", () => {
  test("removes what nobody needs and nobody used for an hour; a trial only tells", async () => {
    const [needed, old, young] = [place("needed"), place("old"), place("young", NOW - 1000)];
    const found = { files: 1, bytes: 3, young: 1 };
    expect(await collect(new Set([needed]), { isTrial: true })).toEqual(found);
    expect(existsSync(pathOf(old))).toBe(true);
    expect(await collect(new Set([needed]))).toEqual(found);
    expect([needed, old, young].map((each) => existsSync(pathOf(each)))).toEqual([true, false, true]);
  });

  test("puts a file back that somebody needs by the time it is set aside", async () => {
    const file = place("late");
    const needed = new Set<string>();
    let asked = 0;
    const result = await collect(needed, { asked: () => void (asked++ > 0 && needed.add(file)) });
    expect([result.files, existsSync(pathOf(file))]).toEqual([0, true]);
  });

  test("goes on with what a killed one had set aside: back where it is needed, gone where not", async () => {
    const [needed, not, used] = [place("needed"), place("not"), place("used", NOW)];
    mkdirSync(join(directory, "leaving"));
    for (const each of [needed, not, used]) renameSync(pathOf(each), join(directory, "leaving", each));
    await collect(new Set([needed]));
    expect([needed, not, used].map((each) => existsSync(pathOf(each)))).toEqual([true, false, true]);
    expect(existsSync(join(directory, "leaving", not))).toBe(false);
  });

  test("looks at files where versions before stored them, and removes one wherever it lies, also twice", async () => {
    const [needed, old, twice] = [place("needed"), place("old"), place("twice")];
    for (const each of [needed, old, twice]) moveToEarlier(each);
    place("twice");
    const found = { bytes: 8, young: 0 };
    expect(await collect(new Set([needed]))).toMatchObject({ files: 2, ...found });
    expect([needed, old, twice].map((each) => existsSync(earlierPathOf(each)))).toEqual([true, false, false]);
    expect(existsSync(pathOf(twice))).toBe(false);
  });

  test("tells the files of a folder a thousand at a time", async () => {
    const names = Array.from({ length: 1_001 }, (_, i) => `ab${String(i).padStart(62, "0")}`);
    mkdirSync(dirname(pathOf(names[0] ?? "")), { recursive: true });
    for (const name of names) writeFileSync(pathOf(name), "");
    const told = await Array.fromAsync(openStoredContents(directory).folders());
    expect(told.map(({ length }) => length)).toEqual([1_000, 1]);
    expect(told.flat().sort()).toEqual(names);
  });

  test("of an empty folder finds nothing, and leaves strange files alone", async () => {
    expect(await collect(new Set())).toEqual({ files: 0, bytes: 0, young: 0 });
    mkdirSync(join(directory, "sha256", "ab", "cd"), { recursive: true });
    const strange = join(directory, "sha256", "ab", "cd", "notes.txt");
    writeFileSync(strange, "x");
    await collect(new Set());
    expect(existsSync(strange)).toBe(true);
  });
});

test("what is stored again, and what is held, is kept from a collection in another process", async () => {
  const assets = openAssetStore({ directory, newTemporaryName: () => `t${Math.random()}`, now: () => NOW });
  const bytes = await png(4, 4);
  const file = await assets.put(bytes, OPTIONS);
  for (const use of [() => assets.put(bytes, OPTIONS), () => assets.hold(file)]) {
    age(file.sha256, NOW - 2 * UNUSED_MS);
    await use();
    expect(statSync(pathOf(file.sha256)).mtimeMs).toBe(NOW);
    expect(await collect(new Set())).toMatchObject({ files: 0, young: 1 });
  }
  age(file.sha256, NOW - 2 * UNUSED_MS);
  expect(await collect(new Set())).toMatchObject({ files: 1 });
  // Known in memory, but gone: it is stored again.
  await assets.put(bytes, OPTIONS);
  expect(existsSync(pathOf(file.sha256))).toBe(true);
});

test("a new file is young by the clock of the nodes, however far behind the clock of the machine that stores it is", async () => {
  const at = Math.floor(Date.now() / 1000) * 1000 + 3 * UNUSED_MS;
  const assets = openAssetStore({ directory, newTemporaryName: () => `t${Math.random()}`, now: () => at });
  const large = new Uint8Array(await picture(300, 300).png({ compressionLevel: 0 }).toBuffer());
  await assets.put(await png(4, 4), OPTIONS);
  await assets.put(inPieces(large, 10_000), OPTIONS);
  expect(await collect(new Set(), { at })).toEqual({ files: 0, bytes: 0, young: 2 });
});

test("what is held for hours, such as while its row cannot be written, is kept from a collection in another process", async () => {
  let now = NOW - 3 * UNUSED_MS;
  const assets = openAssetStore({ directory, newTemporaryName: () => `t${Math.random()}`, now: () => now });
  const staged = await assets.stage(await png(4, 4), OPTIONS);
  const unkept = await assets.stage(await png(5, 5), OPTIONS);
  await staged.keep();
  const { sha256 } = staged.file;
  age(sha256, now);
  for (; now < NOW; now += UNUSED_MS / 6) assets.renewHeld();
  expect(await collect(new Set())).toMatchObject({ files: 0, young: 1 });
  await unkept.release(false);
  await staged.release(true);
  age(sha256, NOW - 2 * UNUSED_MS);
  assets.renewHeld();
  expect(await collect(new Set())).toMatchObject({ files: 1 });
});

test("a content that a staging or a hold has is not removed", async () => {
  const assets = openAssetStore({ directory, newTemporaryName: () => `t${Math.random()}` });
  const file = await assets.put(await png(4, 4), OPTIONS);
  const hold = await assets.hold(file);
  expect(await assets.removeUnheld(file.sha256)).toBe(false);
  await hold?.release(true);
  expect(await assets.removeUnheld(file.sha256)).toBe(true);
  expect(await assets.hold(file)).toBeUndefined();
  expect(existsSync(pathOf(file.sha256))).toBe(false);
});

test("a file is hashed anew", async () => {
  const contents = openStoredContents(directory);
  const file = place("whole");
  expect(await contents.rehash(file)).toBe(file);
  moveToEarlier(file);
  expect(await contents.rehash(file)).toBe(file);
  renameSync(earlierPathOf(file), pathOf(file));
  writeFileSync(pathOf(file), "whale");
  expect(await contents.rehash(file)).not.toBe(file);
  rmSync(pathOf(file));
  expect(await contents.rehash(file)).toBeUndefined();
});
