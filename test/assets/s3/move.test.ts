import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { moveContents } from "../../../src/assets/s3/move.ts";
import type { PutOptions } from "../../../src/domain/ports/asset-store.ts";
import { png } from "../../helpers/media.ts";
import { contentFiles } from "../../helpers/media-store.ts";
import { makeS3Store, type S3StoreUnderTest } from "../../helpers/s3-store.ts";

const ANY: PutOptions = { accept: ["image"], maxBytes: 50_000_000, sanitize: false };
let subject: S3StoreUnderTest;
let names = 0;
beforeEach(async () => {
  subject = await makeS3Store();
});
afterEach(async () => {
  expect(await subject.leftovers()).toBe(0);
  await subject.remove();
});

const move = (to: "s3" | "folder", isTrial = false) =>
  moveContents({
    ...{ to, isTrial, directory: subject.directory, objects: subject.open().objects },
    ...{ newTemporaryName: () => `moving-${names++}`, onFile: () => {} },
  });

async function storedIn(place: "s3" | "folder", count: number) {
  const store = subject.again({ store: place });
  return Promise.all(Array.from({ length: count }, async (_, i) => store.put(await png(3 + i, 3), ANY)));
}

test("a file is in the new place alone afterwards, and a trial moves none", async () => {
  const files = await storedIn("folder", 3);
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  expect(await move("s3", true)).toEqual({ files: 3, bytes, damaged: [] });
  expect(subject.s3.objects.size).toBe(0);
  expect(await move("s3")).toEqual({ files: 3, bytes, damaged: [] });
  expect(await contentFiles(subject.directory)).toEqual([]);
  expect([...subject.s3.objects.values()].map(({ type }) => type)).toEqual(Array(3).fill("image/png"));
  expect(await move("folder")).toEqual({ files: 3, bytes, damaged: [] });
  expect(subject.s3.objects.size).toBe(0);
  expect(await contentFiles(subject.directory)).toHaveLength(3);
  expect(await move("folder")).toEqual({ files: 0, bytes: 0, damaged: [] });
});

test("a file that is in both places leaves the old one", async () => {
  await storedIn("s3", 2);
  const files = await storedIn("folder", 2);
  for (const [to, inBucket, here] of [
    ["folder", 0, 2],
    ["s3", 2, 0],
  ] as const) {
    expect((await move(to)).files).toBe(2);
    expect([subject.s3.objects.size, (await contentFiles(subject.directory)).length]).toEqual([
      inBucket,
      here,
    ]);
    for (const file of files) expect(await subject.again().open(file)).toBeDefined();
  }
});

test("a damaged file stays where it is, on both sides", async () => {
  const [file] = await storedIn("folder", 1);
  const [path = ""] = await contentFiles(subject.directory);
  await writeFile(path, "other bytes");
  expect(await move("s3")).toEqual({ files: 0, bytes: 0, damaged: [file!.sha256] });
  expect([subject.s3.objects.size, (await contentFiles(subject.directory)).length]).toEqual([0, 1]);
  const [, whole] = await storedIn("s3", 2);
  const object = subject.s3.objects.get(`svc/sha256/${whole!.sha256}`)!;
  object.bytes = Buffer.alloc(object.bytes.length);
  expect((await move("folder")).damaged).toEqual([whole!.sha256]);
  expect([...subject.s3.objects.keys()]).toEqual([`svc/sha256/${whole!.sha256}`]);
});

test("another object under the name of a file is replaced before the file goes", async () => {
  const [file] = await storedIn("folder", 1);
  const wrong = { bytes: Buffer.from("x"), etag: "", checksum: undefined, storedAt: 0, type: "" };
  subject.s3.objects.set(`svc/sha256/${file!.sha256}`, wrong);
  expect((await move("s3")).files).toBe(1);
  expect((await (await subject.again().open(file!))?.bytes())?.length).toBe(file!.sizeBytes);
});

test("a service that keeps no checksums is read, and wrong bytes there keep the file here", async () => {
  subject.s3.lacks = ["checksum"];
  await storedIn("folder", 1);
  subject.s3.fault = ({ operation }) => (operation === "PutObject" ? "flipped" : undefined);
  expect(move("s3")).rejects.toThrow("other bytes");
  await move("s3").catch(() => undefined);
  expect(await contentFiles(subject.directory)).toHaveLength(1);
  subject.s3.fault = () => undefined;
  expect((await move("s3")).files).toBe(1);
});

test("a bucket that refuses ends the move, and what was not moved is where it was", async () => {
  await storedIn("folder", 3);
  subject.s3.fault = ({ operation }) =>
    operation === "PutObject" ? { status: 403, code: "AccessDenied" } : undefined;
  expect(move("s3")).rejects.toThrow("AccessDenied");
  await move("s3").catch(() => undefined);
  expect(await contentFiles(subject.directory)).toHaveLength(3);
});
