import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openFolders } from "../../src/assets/content-folders.ts";
import { createKeeper, MOST_TOGETHER_BYTES } from "../../src/assets/keep-together.ts";

let root: string;
let directory: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-together-"));
  directory = join(root, "assets");
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Some bytes and their name, different for each number. */
function content(number: number, sizeBytes = 100) {
  const bytes = Buffer.alloc(sizeBytes, `content ${number}`);
  return { bytes, sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex") };
}

function setUp() {
  const folders = openFolders(directory);
  let drafts = 0;
  const keep = createKeeper(join(directory, "tmp"), () => `draft-${++drafts}`, folders);
  return { keep: (each: ReturnType<typeof content>) => keep(each.bytes, each.sha256), ...folders };
}

const draftsLeft = () => readdir(join(directory, "tmp"));
const bytesAt = (path: string) => Bun.file(path).bytes();

test("contents that come together, and while others are stored, are each whole under their name", async () => {
  const { keep, pathOf } = setUp();
  const contents = Array.from({ length: 40 }, (_, number) => content(number));
  const first = contents.slice(0, 20).map(keep);
  await first[0];
  await Promise.all([...first, ...contents.slice(20).map(keep)]);
  for (const { bytes, sha256 } of contents) expect(Buffer.from(await bytesAt(pathOf(sha256)))).toEqual(bytes);
  expect(await draftsLeft()).toEqual([]);
});

test("contents of the same round are told in one turn", async () => {
  const { keep } = setUp();
  let told = 0;
  const all = [1, 2, 3].map((number) => keep(content(number)).then(() => ++told));
  await all[0];
  expect(told).toBe(3);
});

test("a content of many pieces is whole", async () => {
  const { keep, pathOf } = setUp();
  const { bytes, sha256 } = content(1, MOST_TOGETHER_BYTES);
  await keep({ bytes, sha256 });
  expect(Bun.hash(await bytesAt(pathOf(sha256)))).toBe(Bun.hash(bytes));
});

test("one that cannot get its name fails alone, and leaves nothing", async () => {
  const { keep, pathOf } = setUp();
  const [good, bad, other] = [content(1), content(2), content(3)];
  await mkdir(pathOf(bad.sha256), { recursive: true });
  const outcomes = await Promise.allSettled([good, bad, other].map(keep));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(Buffer.from(await bytesAt(pathOf(other.sha256)))).toEqual(other.bytes);
  expect(await draftsLeft()).toEqual([]);
});

test("a content whose folder was removed since gets a new one", async () => {
  const { keep, pathOf } = setUp();
  const { bytes, sha256 } = content(1);
  await keep({ bytes, sha256 });
  await rm(dirname(pathOf(sha256)), { recursive: true });
  await keep({ bytes, sha256 });
  expect(Buffer.from(await bytesAt(pathOf(sha256)))).toEqual(bytes);
});

test("nothing can be stored where the folder of files was moved away, until it is back", async () => {
  const { keep, pathOf } = setUp();
  const { bytes, sha256 } = content(1);
  await rm(root, { recursive: true });
  expect(await keep({ bytes, sha256 }).catch(({ code }: { code: string }) => code)).toBe("ENOENT");
  await mkdir(root);
  await keep({ bytes, sha256 });
  expect(Buffer.from(await bytesAt(pathOf(sha256)))).toEqual(bytes);
});
