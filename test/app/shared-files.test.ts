import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noteLeft, sharedFiles } from "../../src/app/shared-files.ts";
import { openStoredContents } from "../../src/assets/contents.ts";
import { openAssetStore } from "../../src/assets/open.ts";
import { openBucketContents } from "../../src/assets/s3/contents.ts";
import { UNUSED_MS } from "../../src/service/collect-contents.ts";
import { png } from "../helpers/media.ts";
import { makeS3Store } from "../helpers/s3-store.ts";

const OPTIONS = { accept: ["image"], maxBytes: 1e6, sanitize: true } as const;

/** What rows need. */
let needed: Set<string>;
const retention = {
  neededContents: async (all: readonly string[]) => all.filter((each) => needed.has(each)),
};
beforeEach(() => {
  needed = new Set();
});

describe("nodes that share a folder", () => {
  const NOW = 1_800_000_000_000;
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "svc-shared-files-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function startNode(name: string) {
    let drafts = 0;
    const newTemporaryName = () => `${name}-${drafts++}`;
    const left = new Set<string>();
    const sharing = { isShared: true, onLeft: (sha256: string) => noteLeft(left, sha256) };
    const assets = openAssetStore({ directory, newTemporaryName, now: () => NOW, ...sharing });
    const files = { assets, contents: openStoredContents(directory), left };
    return sharedFiles(files, { retention, now: () => NOW });
  }
  const pathOf = (sha256: string) => join(directory, "sha256", sha256.slice(0, 2), sha256);
  function age(sha256: string): void {
    const usedAt = (NOW - 2 * UNUSED_MS) / 1000;
    utimesSync(pathOf(sha256), usedAt, usedAt);
  }

  test("one keeps what another one has just stored again, and removes it once nobody has for an hour", async () => {
    const [one, other] = [startNode("one"), startNode("other")];
    const bytes = await png(4, 4);
    const { sha256 } = await one.assets.put(bytes, OPTIONS);
    age(sha256);
    // Its row comes later.
    await other.assets.put(bytes, OPTIONS);
    expect(await one.assets.removeUnheld(sha256)).toBe(false);
    expect([existsSync(pathOf(sha256)), [...one.left]]).toEqual([true, [sha256]]);
    needed.add(sha256);
    age(sha256);
    expect(await one.assets.removeUnheld(sha256)).toBe(false);
    needed.clear();
    expect(await one.assets.removeUnheld(sha256)).toBe(true);
    expect(existsSync(pathOf(sha256))).toBe(false);
  });

  test("one that does not use what it stored leaves it to another, which found it and is about to name it", async () => {
    const [one, other] = [startNode("one"), startNode("other")];
    const bytes = await png(4, 4);
    // A create that a client sent again, to another node.
    const [first, second] = [
      await one.assets.stage(bytes, OPTIONS),
      await other.assets.stage(bytes, OPTIONS),
    ];
    await first.keep();
    await second.keep();
    await first.release(false);
    const { sha256 } = first.file;
    expect([existsSync(pathOf(sha256)), [...one.left]]).toEqual([true, [sha256]]);
    needed.add(sha256);
    await second.release(true);
    const third = await one.assets.hold(second.file);
    await third?.release(false);
    expect(existsSync(pathOf(sha256))).toBe(true);
    needed.clear();
    age(sha256);
    expect(await one.assets.removeUnheld(sha256)).toBe(true);
  });

  test("what a row needs, or is gone, is not tried again", async () => {
    const node = startNode("one");
    const { sha256 } = await node.assets.put(await png(4, 4), OPTIONS);
    needed.add(sha256);
    expect(await node.assets.removeUnheld(sha256)).toBe(false);
    expect(await node.assets.removeUnheld("0".repeat(64))).toBe(false);
    expect([...node.left]).toEqual([]);
  });
});

test("of nodes that share a bucket, one keeps what another one has just stored again", async () => {
  const made = await makeS3Store();
  try {
    const [opened, other] = [made.open(), made.open()];
    let now = Date.now();
    const { objects, assets } = opened;
    const files = {
      ...{ assets, contents: openBucketContents(objects, assets.removeUnheld), left: new Set<string>() },
    };
    const one = sharedFiles(files, { retention, now: () => now });
    const { sha256 } = await other.assets.put(await png(4, 4), OPTIONS);
    expect(await one.assets.removeUnheld(sha256)).toBe(false);
    expect(await objects.has(sha256)).toBe(true);
    now += 2 * UNUSED_MS;
    expect(await one.assets.removeUnheld(sha256)).toBe(true);
    expect(await objects.has(sha256)).toBe(false);
  } finally {
    await made.remove();
  }
});
