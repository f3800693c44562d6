import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { S3Client } from "../../../src/assets/s3/client.ts";
import { openBucketContents } from "../../../src/assets/s3/contents.ts";
import { S3Error } from "../../../src/assets/s3/errors.ts";
import { Objects } from "../../../src/assets/s3/objects.ts";
import { createUploadSweeper } from "../../../src/assets/s3/sweeper.ts";
import { type FakeS3, type Fault, KEYS, startFakeS3 } from "../../helpers/fake-s3.ts";
import { pauselessClock } from "../../helpers/pauseless-clock.ts";
import { bucketOf, quietLog } from "../../helpers/s3-store.ts";

const MB = 1024 * 1024;
const PART_BYTES = 64 * 1024;
const clock = pauselessClock();
let s3: FakeS3;
beforeEach(async () => {
  s3 = await startFakeS3({ minPartBytes: PART_BYTES });
});
afterEach(() => s3.stop());

function open({ patienceMs = 60_000 } = {}): Objects {
  return new Objects(new S3Client({ bucket: bucketOf(s3), clock, random: () => 0, patienceMs }), PART_BYTES);
}

/** An answer that never comes is waited for until its request is there. */
function happens(fault: Fault): Fault {
  if (fault === "silent") clock.endWaits();
  return fault;
}

/** Bytes that differ everywhere. */
function source(sizeBytes: number) {
  const bytes = Buffer.alloc(sizeBytes);
  for (let at = 0; at < sizeBytes; at += 4096)
    bytes.writeUInt32LE(at / 4096 + 1, Math.min(at, sizeBytes - 4));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const read = async (at: number, length: number) => bytes.subarray(at, at + length);
  return { sha256, sizeBytes, type: "video/mp4", read, bytes };
}

async function bytesOf(objects: Objects, sha256: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (await objects.get(sha256, 0))?.pieces ?? []) pieces.push(piece);
  return Buffer.concat(pieces);
}

const small = source(50_000);
const large = source(2.5 * PART_BYTES);
const NEW = { isNew: true };

test("a file is one object under its hash, with its type, its checksum and a right signature", async () => {
  const objects = open();
  expect(await objects.head(small.sha256)).toBeUndefined();
  expect(await objects.put(small, NEW)).toBe("stored");
  expect([...s3.objects.keys()]).toEqual([`svc/sha256/${small.sha256}`]);
  const checksum = Buffer.from(small.sha256, "hex").toString("base64");
  expect(await objects.head(small.sha256)).toMatchObject({ sizeBytes: 50_000, checksum });
  expect(s3.objects.values().next().value).toMatchObject({ type: "video/mp4", checksum });
  expect(await bytesOf(objects, small.sha256)).toEqual(small.bytes);
  expect(await objects.put(small, NEW)).toBe("there");
  await objects.remove(small.sha256);
  await objects.remove(small.sha256);
  expect(s3.objects.size).toBe(0);
});

test("a file of more than a part goes in parts, and becomes one object only where there is none", async () => {
  const objects = open();
  expect(await objects.put(large, NEW)).toBe("stored");
  expect(s3.operations().filter((each) => each === "UploadPart")).toHaveLength(3);
  expect((await bytesOf(objects, large.sha256)).equals(large.bytes)).toBe(true);
  expect(await objects.put(large, NEW)).toBe("there");
  expect(s3.uploads.size).toBe(0);
});

test("a file of 16 MB goes whole, and a larger one in parts of 16 MB", async () => {
  const objects = new Objects(new S3Client({ bucket: bucketOf(s3), clock, random: () => 0 }));
  await objects.put(source(16 * MB), NEW);
  expect(s3.operations()).toEqual(["PutObject"]);
  const file = source(17 * MB);
  await objects.put(file, NEW);
  const parts = s3.requests.filter(({ operation }) => operation === "UploadPart");
  expect(parts.map(({ body }) => body.length).sort((a, b) => b - a)).toEqual([16 * MB, MB]);
  expect((await bytesOf(objects, file.sha256)).equals(file.bytes)).toBe(true);
});

describe("what may pass is tried again", () => {
  const faults: [string, Fault][] = [
    ["a 500", { status: 500, code: "InternalError" }],
    ["a 503 SlowDown", { status: 503, code: "SlowDown" }],
    ["a broken connection", "broken"],
    ["a lost answer", "answer lost"],
    ["no answer", "silent"],
    ["an answer cut in half", "cut"],
    ["bytes that change on their way", "changed"],
  ];
  const operations: [string, ReturnType<typeof source>][] = [
    ["PutObject", small],
    ["CreateMultipartUpload", large],
    ["UploadPart", large],
    ["CompleteMultipartUpload", large],
  ];
  for (const [operation, file] of operations) {
    test.each(faults)(`${operation} after %s`, async (_, fault) => {
      let failed = false;
      s3.fault = (request) => {
        if (request.operation !== operation || failed) return undefined;
        failed = true;
        return happens(fault);
      };
      const objects = open();
      expect(["stored", "there"]).toContain(await objects.put(file, NEW));
      expect(failed).toBe(true);
      s3.fault = () => undefined;
      expect((await bytesOf(objects, file.sha256)).equals(file.bytes)).toBe(true);
      // An upload whose beginning was not answered is nobody's; the sweeper finds it.
      const isLost = operation === "CreateMultipartUpload" && ["answer lost", "cut"].includes(String(fault));
      expect(s3.uploads.size).toBe(isLost ? 1 : 0);
    });
  }
});

test("a service that stores other bytes than it was sent is told from its checksum, and gets the right ones", async () => {
  const objects = open();
  let isFirst = true;
  s3.fault = (request) => {
    if (request.operation !== "PutObject" || !isFirst) return undefined;
    isFirst = false;
    return "flipped";
  };
  await objects.put(small, NEW);
  expect(s3.objects.get(objects.keyOf(small.sha256))?.bytes).toEqual(small.bytes);
});

describe("what does not pass ends the work, and leaves nothing", () => {
  const faults: [Fault, RegExp][] = [
    [
      { status: 403, code: "AccessDenied" },
      /answered 403 AccessDenied .* to .*See whether the bucket's policy/,
    ],
    [{ status: 403, code: "SignatureDoesNotMatch" }, /assets\.key_env/],
    [{ status: 301, code: "PermanentRedirect" }, /assets\.region/],
    [{ status: 404, code: "NoSuchBucket" }, /assets\.bucket/],
    [{ status: 500, code: "InternalError" }, /answered 500 InternalError/],
    ["broken", /did not answer/],
    ["silent", /in time/],
  ];
  test.each(faults)("%j", async (fault, message) => {
    for (const [operation, file] of [
      ["PutObject", small],
      ["UploadPart", large],
      ["CompleteMultipartUpload", large],
    ] as const) {
      s3.fault = (request) => (request.operation === operation ? happens(fault) : undefined);
      const error: unknown = await open({ patienceMs: 50 })
        .put(file, NEW)
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(S3Error);
      expect(String(error)).toMatch(message);
      expect(String(error)).not.toContain(KEYS.secretAccessKey);
      expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0]);
    }
  });
});

test("a message never repeats the key that a service quotes", async () => {
  const message = `The key ${KEYS.accessKeyId} is unknown.`;
  s3.fault = () => ({ status: 403, code: "InvalidAccessKeyId", message });
  const error: unknown = await open()
    .head(small.sha256)
    .catch((thrown: unknown) => thrown);
  expect(String(error)).not.toContain(KEYS.accessKeyId);
});

test("a clock that is an hour off is made up for by the service's own", async () => {
  s3.stop();
  s3 = await startFakeS3({ now: () => Date.now() + 3_600_000 });
  expect(await open().put(small, NEW)).toBe("stored");
  expect(s3.operations()).toEqual(["PutObject", "PutObject"]);
});

test("a clock that is an hour off is noticed by a request whose refusal says nothing, each time that it changes", async () => {
  let aheadMs = 0;
  s3.stop();
  s3 = await startFakeS3({ now: () => Date.now() + aheadMs });
  const objects = open();
  await objects.put(small, NEW);
  for (aheadMs of [3_600_000, -3_600_000, 0])
    expect(await objects.head(small.sha256)).toMatchObject({ sizeBytes: 50_000 });
  expect(s3.operations().slice(1)).toEqual(Array(6).fill("HeadObject"));
});

test("a request that is refused for another reason is sent once, however far the clock is off", async () => {
  s3.stop();
  s3 = await startFakeS3({ now: () => Date.now() + 600_000 });
  s3.fault = () => ({ status: 403, code: "AccessDenied", message: "" });
  await expect(open().head(small.sha256)).rejects.toThrow("403");
  expect(s3.operations()).toEqual(["HeadObject"]);
});

test("a file that is compared with its hash is read on after failures that pass, and is gone only where the bucket says so", async () => {
  const objects = open();
  await objects.put(large, NEW);
  const { rehash } = openBucketContents(objects, async () => true);
  const faults: Fault[] = [{ status: 503, code: "SlowDown" }, "cut", "broken", "cut"];
  s3.fault = () => faults.shift();
  expect(await rehash(large.sha256)).toBe(large.sha256);
  expect(await rehash(small.sha256)).toBeUndefined();
  s3.hasBucket = false;
  await expect(rehash(large.sha256)).rejects.toThrow("NoSuchBucket");
});

test("wrong keys are refused by the service that the tests ask, and so is a changed body", async () => {
  const bucket = { ...bucketOf(s3), keys: () => ({ ...KEYS, secretAccessKey: "another" }) };
  const objects = new Objects(new S3Client({ bucket, clock, random: () => 0, patienceMs: 0 }));
  expect(objects.put(small, NEW)).rejects.toThrow("SignatureDoesNotMatch");
});

test.each([[["checksum"]], [["condition"]], [["checksum", "condition"]]] as const)(
  "a service that does not implement %j is asked without",
  async (lacks) => {
    s3.lacks = [...lacks];
    const objects = open();
    for (const file of [small, large]) {
      expect(await objects.put(file, NEW)).toBe("stored");
      expect((await bytesOf(objects, file.sha256)).equals(file.bytes)).toBe(true);
    }
    await objects.head(small.sha256);
  },
);

test("a list goes on after its thousandth object, in the order of the names", async () => {
  const names = Array.from({ length: 1003 }, (_, i) => createHash("sha256").update(String(i)).digest("hex"));
  const [object] = [{ bytes: Buffer.from("x"), etag: "", checksum: undefined, storedAt: 5_000, type: "" }];
  for (const name of names) s3.objects.set(`svc/sha256/${name}`, object);
  s3.objects.set("svc/sha256/notes.txt", object);
  s3.objects.set("other/sha256/aa", object);
  const objects = open();
  const first = await objects.list();
  expect([first.objects.length, first.isLast]).toEqual([1000, false]);
  const rest = await objects.list(first.objects.at(-1)?.sha256);
  expect(rest.isLast).toBe(true);
  expect([...first.objects, ...rest.objects].map(({ sha256 }) => sha256)).toEqual(names.sort());
  expect(rest.objects[0]).toMatchObject({ sizeBytes: 1, storedAt: 5_000 });
});

test("a service whose lists begin anew each time is refused in words, and is not asked forever", async () => {
  s3.beginsListsAnew = true;
  const object = { bytes: Buffer.from("x"), etag: "", checksum: undefined, storedAt: 5_000, type: "" };
  for (let i = 0; i < 1_001; i++) s3.objects.set(`svc/sha256/${String(i).padStart(64, "0")}`, object);
  const listing = Array.fromAsync(open().all());
  await expect(listing).rejects.toThrow(
    /lists objects from the first one again, whatever `start-after` says/,
  );
});

test("an upload of one's own is not given up while it goes on, however long it takes", async () => {
  const objects = open();
  let swept: Promise<number> | undefined;
  s3.fault = async ({ operation }) => {
    if (operation !== "UploadPart" || swept !== undefined) return undefined;
    for (const upload of s3.uploads.values()) upload.begunAt -= 24 * 60 * 60_000;
    s3.uploads.set("left", { key: "svc/sha256/a", type: "", begunAt: 0, parts: new Map() });
    swept = createUploadSweeper({ objects, clock, log: quietLog() }).sweep();
    await swept;
    return undefined;
  };
  expect(await objects.put(large, NEW)).toBe("stored");
  expect([await swept, s3.uploads.size]).toEqual([1, 0]);
});

test("uploads that nobody completed are given up within two hours, and younger ones and those of others are not", async () => {
  const begin = (key: string, minutesAgo: number) => {
    const begunAt = Date.now() - minutesAgo * 60_000;
    s3.uploads.set(`${key}-${minutesAgo}`, { key, type: "", begunAt, parts: new Map() });
  };
  begin("svc/sha256/a", 105);
  begin("svc/sha256/b", 90);
  begin("other/sha256/c", 300);
  const sweeper = createUploadSweeper({ objects: open(), clock, log: quietLog() });
  expect(await sweeper.sweep()).toBe(1);
  expect([...s3.uploads.keys()]).toEqual(["svc/sha256/b-90", "other/sha256/c-300"]);
  s3.fault = () => ({ status: 403, code: "AccessDenied" });
  expect(await sweeper.sweep()).toBe(0);
  s3.fault = () => undefined;
  // More than a list has on one page, several of them of one file.
  for (let i = 0; i < 1_100; i++) begin(`svc/sha256/${i % 3}`, 120 + i);
  expect(await sweeper.sweep()).toBe(1_100);
});
