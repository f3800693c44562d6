import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openBucketContents } from "../../../src/assets/s3/contents.ts";
import type { StoredFile } from "../../../src/domain/media/asset.ts";
import type { AssetStore, PutOptions } from "../../../src/domain/ports/asset-store.ts";
import { StorageError } from "../../../src/domain/ports/task-store.ts";
import { collectContents } from "../../../src/service/collect-contents.ts";
import { inPieces, picture, png } from "../../helpers/media.ts";
import { contentFiles } from "../../helpers/media-store.ts";
import { pauselessClock } from "../../helpers/pauseless-clock.ts";
import { makeS3Store, type S3StoreUnderTest } from "../../helpers/s3-store.ts";

const ANY: PutOptions = { accept: ["image", "video"], maxBytes: 50_000_000, sanitize: false };
const ANSWER_MS = 20_000;
const clock = pauselessClock();
let subject: S3StoreUnderTest;
beforeEach(async () => {
  subject = await makeS3Store({ clock, answerMs: ANSWER_MS });
});
afterEach(() => subject.remove());

const contentOf = async (store: AssetStore, file: Parameters<AssetStore["open"]>[0]) =>
  (await store.open(file))?.bytes();
/** Whether it can be held. */
async function has(store: AssetStore, file: StoredFile): Promise<boolean> {
  const held = await store.hold(file);
  await held?.release(true);
  return held !== undefined;
}

const cached = () => contentFiles(subject.directory, "cache");
const gets = () => subject.s3.operations().filter((each) => each === "GetObject").length;

/** Nine megabytes, which are sent on while they arrive. */
const largePng = async () =>
  new Uint8Array(await picture(1700, 1800).png({ compressionLevel: 0 }).toBuffer());

test("a file is in the bucket before it is kept, and on this machine it is only a copy", async () => {
  const bytes = await png(4, 4);
  const stored = await subject.store.put(inPieces(bytes), ANY);
  expect(Buffer.from(subject.s3.objects.get(`svc/sha256/${stored.sha256}`)?.bytes ?? "")).toEqual(
    Buffer.from(bytes),
  );
  expect(await cached()).toHaveLength(1);
  expect(await contentFiles(subject.directory)).toEqual([]);
  expect(await contentOf(subject.store, stored)).toEqual(bytes);
  expect(gets()).toBe(0);
});

test("the copies may be deleted at any time", async () => {
  const bytes = await png(4, 4);
  const stored = await subject.store.put(bytes, ANY);
  await rm(join(subject.directory, "cache"), { recursive: true });
  expect(await contentOf(subject.store, stored)).toEqual(bytes);
  await rm(join(subject.directory, "cache"), { recursive: true });
  expect(await contentOf(subject.again(), stored)).toEqual(bytes);
});

test("copies take no more than their limit, and those not used longest go first", async () => {
  let nowMs = 0;
  const clock = { now: Date.now, elapsed: () => nowMs, after: () => () => {} };
  const files = await Promise.all([4, 5, 6].map((side) => png(side, 4)));
  const last = await png(7, 4);
  const store = subject.again({ cacheBytes: (files[0]?.length ?? 0) + last.length, clock });
  const stored = [];
  for (const bytes of files) {
    stored.push(await store.put(bytes, ANY));
    nowMs += 20_000;
    await store.open(stored[0]!, { isLazy: true });
  }
  nowMs += 20_000;
  stored.push(await store.put(last, ANY));
  const names = (await cached()).map((path) => path.slice(-64));
  expect(names.sort()).toEqual([stored[0]!.sha256, stored[3]!.sha256].sort());
  for (const [i, file] of stored.entries())
    expect(await contentOf(store, file)).toEqual([...files, last][i]!);
});

test("a copy that an earlier process left is checked before it is used", async () => {
  const bytes = await png(4, 4);
  const stored = await subject.store.put(bytes, ANY);
  const [path = ""] = await cached();
  const later = async () => {
    const opened = subject.open();
    await opened.start();
    opened.stop();
    return opened.assets;
  };
  expect(await contentOf(await later(), stored)).toEqual(bytes);
  expect(gets()).toBe(0);
  await writeFile(path, new Uint8Array(bytes.length));
  expect(await contentOf(await later(), stored)).toEqual(bytes);
  expect(gets()).toBe(1);
});

test("all who ask for a file at one time share its download", async () => {
  const bytes = await png(9, 9);
  const stored = await subject.store.put(bytes, ANY);
  const store = subject.again();
  const opened = await Promise.all([1, 2, 3, 4].map(() => contentOf(store, stored)));
  expect(opened).toEqual([bytes, bytes, bytes, bytes]);
  expect(gets()).toBe(1);
});

describe("a wrong byte is never served as good", () => {
  test("bytes that change on their way here are fetched again", async () => {
    const bytes = await png(9, 9);
    const stored = await subject.store.put(bytes, ANY);
    let isFirst = true;
    subject.s3.fault = ({ operation }) => {
      if (operation !== "GetObject" || !isFirst) return undefined;
      isFirst = false;
      return "flipped";
    };
    expect(await contentOf(subject.again(), stored)).toEqual(bytes);
    expect(gets()).toBe(2);
  });

  test("an object with other bytes is not there, and the log says so; the next put rights it", async () => {
    const bytes = await png(9, 9);
    const stored = await subject.store.put(bytes, ANY);
    const object = subject.s3.objects.get(`svc/sha256/${stored.sha256}`)!;
    for (const wrong of [
      Buffer.alloc(bytes.length),
      Buffer.from(bytes).subarray(1),
      Buffer.concat([bytes, bytes]),
    ]) {
      const checksum = new Bun.CryptoHasher("sha256").update(wrong).digest("base64");
      subject.s3.objects.set(`svc/sha256/${stored.sha256}`, { ...object, bytes: wrong, checksum });
      expect(await subject.again().open(stored)).toBeUndefined();
      expect(subject.logged).toContain("the bucket answered with other bytes than it was given");
      expect(await subject.again().put(bytes, ANY)).toEqual(stored);
      expect(await contentOf(subject.again(), stored)).toEqual(bytes);
    }
  });

  test("one that is sent on while it arrives ends with an error, and its end is kept back", async () => {
    const bytes = await largePng();
    const stored = await subject.store.put(bytes, ANY);
    const store = subject.again();
    const right = await store.deliver(stored, "whole");
    if (right?.kind !== "stream") throw new Error("It is not sent on.");
    expect(Buffer.from(await new Response(right.stream).bytes()).equals(bytes)).toBe(true);
    expect((await store.deliver(stored, "whole"))?.kind).toBe("content");

    subject.s3.fault = ({ operation }) => (operation === "GetObject" ? "flipped" : undefined);
    const wrong = await subject.again().deliver(stored, "whole");
    if (wrong?.kind !== "stream") throw new Error("It is not sent on.");
    let receivedBytes = 0;
    const reading = (async () => {
      for await (const piece of wrong.stream) receivedBytes += piece.length;
    })();
    expect(reading).rejects.toThrow("other bytes");
    await reading.catch(() => undefined);
    expect(receivedBytes).toBeLessThan(bytes.length);
  });

  test("one that is removed from the bucket while it is sent on ends with an error", async () => {
    const bytes = await largePng();
    const stored = await subject.store.put(bytes, ANY);
    subject.s3.fault = ({ operation }) => {
      if (operation !== "GetObject") return undefined;
      if (gets() === 1) return "cut";
      subject.s3.objects.clear();
      return undefined;
    };
    const delivery = await subject.again().deliver(stored, "whole");
    if (delivery?.kind !== "stream") throw new Error("It is not sent on.");
    let receivedBytes = 0;
    const reading = (async () => {
      for await (const piece of delivery.stream) {
        expect(piece.length).toBeGreaterThan(0);
        receivedBytes += piece.length;
      }
    })();
    expect(reading).rejects.toThrow("is gone");
    await reading.catch(() => undefined);
    expect(receivedBytes).toBeLessThan(bytes.length);
    expect(await subject.leftovers()).toBe(0);
  });

  test("a stream that its reader leaves ends without a word, and the file is here for the next", async () => {
    const stored = await subject.store.put(await largePng(), ANY);
    const store = subject.again();
    const delivery = await store.deliver(stored, "whole");
    if (delivery?.kind !== "stream") throw new Error("It is not sent on.");
    const reader = delivery.stream.getReader();
    await reader.read();
    await reader.cancel();
    expect((await contentOf(store, stored))?.length).toBe(stored.sizeBytes);
    expect(gets()).toBe(1);
  });
});

test("a download that is cut off goes on where it was, also with a service that knows no ranges", async () => {
  const bytes = new Uint8Array(await picture(600, 600).png({ compressionLevel: 0 }).toBuffer());
  const stored = await subject.store.put(bytes, ANY);
  for (const lacks of [[], ["range"]] as const) {
    subject.s3.lacks = [...lacks];
    subject.s3.requests.length = 0;
    let cuts = 0;
    subject.s3.fault = ({ operation }) => (operation === "GetObject" && cuts++ < 2 ? "cut" : undefined);
    expect(await contentOf(subject.again(), stored)).toEqual(bytes);
    const ranges = subject.s3.requests.map(({ headers }) => headers.range !== undefined);
    expect(ranges).toEqual([false, true, true]);
  }
});

test("no more than 32 files come from a bucket at one time, and the others after them", async () => {
  const stored: StoredFile[] = [];
  for (let side = 1; side <= 40; side += 1) stored.push(await subject.store.put(await png(side, 3), ANY));
  const gate = Promise.withResolvers<undefined>();
  subject.s3.fault = ({ operation }) => (operation === "GetObject" ? gate.promise : undefined);
  const store = subject.again();
  const reading = Promise.all(stored.map((file) => contentOf(store, file)));
  while (gets() < 32) await Bun.sleep(1);
  for (let turns = 0; turns < 200; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(gets()).toBe(32);
  gate.resolve(undefined);
  expect((await reading).map((bytes) => bytes?.length)).toEqual(stored.map(({ sizeBytes }) => sizeBytes));
  expect(gets()).toBe(40);
});

test("a read of a bucket that never answers ends when its patience does", async () => {
  const stored = await subject.store.put(await png(3, 3), ANY);
  subject.s3.fault = () => {
    clock.pass(ANSWER_MS);
    clock.endWaits();
    return "silent";
  };
  const store = subject.again({ patienceMs: 50 });
  const error: unknown = await store.open(stored).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StorageError);
  expect(gets()).toBe(1);
});

test.each([
  ["refuses", { status: 403, code: "AccessDenied" }],
  ["is not there", { status: 404, code: "NoSuchBucket" }],
  ["has trouble", { status: 500, code: "InternalError" }],
  ["slows down", { status: 503, code: "SlowDown" }],
  ["breaks connections", "broken"],
] as const)(
  "a bucket that %s is a StorageError for writer and reader, and nothing is left",
  async (_, fault) => {
    const store = subject.again({ patienceMs: 50 });
    const stored = await subject.store.put(await png(3, 3), ANY);
    subject.s3.fault = () => fault;
    const staging = await store.stage(inPieces(await png(20, 20)), ANY);
    const errors = await Promise.all(
      [staging.keep(), store.open(stored), has(store, stored)].map((each) =>
        each.catch((error: unknown) => error),
      ),
    );
    for (const error of errors) {
      expect(error).toBeInstanceOf(StorageError);
      expect(error).toMatchObject({ kind: "away" });
    }
    await staging.release(false);
    subject.s3.fault = () => undefined;
    expect(await has(store, staging.file)).toBe(false);
    expect(await readdir(join(subject.directory, "tmp"))).toEqual([]);
    expect((await store.put(await png(20, 20), ANY)).sha256).toBe(staging.file.sha256);
  },
);

test("a file of which there is no other copy waits for a bucket that is away", async () => {
  const store = subject.again({ patienceMs: 0 });
  let failures = 0;
  subject.s3.fault = () => (failures++ < 3 ? { status: 503, code: "SlowDown" } : undefined);
  const bytes = await png(5, 5);
  const first: unknown = await store.put(bytes, ANY).catch((error: unknown) => error);
  expect(first).toBeInstanceOf(StorageError);
  failures = 0;
  expect((await store.put(bytes, { ...ANY, isOnlyCopy: true })).sizeBytes).toBe(bytes.length);
});

describe("while files lie in both places", () => {
  test("those in the folder are found by a store in the bucket, and those in the bucket by one in the folder", async () => {
    const [older, newer] = [await png(3, 3), await png(4, 4)];
    const inFolder = subject.again({ store: "folder" });
    const first = await inFolder.put(older, ANY);
    expect(subject.s3.objects.size).toBe(0);
    const second = await subject.store.put(newer, ANY);
    for (const store of [inFolder, subject.store, subject.again({ store: "folder" })]) {
      expect([await contentOf(store, first), await contentOf(store, second)]).toEqual([older, newer]);
      expect([await has(store, first), await has(store, second)]).toEqual([true, true]);
    }
  });

  test("one that was in the other place before stays, when a staging of equal content is not used", async () => {
    const bytes = await png(3, 3);
    for (const [before, now] of [
      ["folder", "s3"],
      ["s3", "folder"],
    ] as const) {
      const stored = await subject.again({ store: before }).put(bytes, ANY);
      const staging = await subject.again({ store: now }).stage(bytes, ANY);
      await staging.keep();
      await staging.release(false);
      expect(await contentOf(subject.again(), stored)).toEqual(bytes);
      await rm(join(subject.directory, "sha256"), { recursive: true, force: true });
      subject.s3.objects.clear();
    }
  });
});

describe("an address in place of the file", () => {
  test("leads to it, without a key, for a while", async () => {
    let nowMs = Date.parse("2026-11-23T12:01:00Z");
    const other = await makeS3Store(
      { clock: { now: () => nowMs, elapsed: () => nowMs, after: () => () => {} } },
      { now: () => nowMs },
    );
    const bytes = await png(4, 4);
    const stored = await other.store.put(bytes, ANY);
    const addresses = { redirect: [240, 65 * 60], presigned: [0, 60] } as const;
    for (const [serve, [maxAgeSec, livesSec]] of Object.entries(addresses)) {
      nowMs = Date.parse("2026-11-23T12:01:00Z");
      const store = other.again({ serve: serve as "redirect" });
      const delivery = await store.deliver(stored, "whole");
      if (delivery?.kind !== "elsewhere") throw new Error("It is sent.");
      expect(delivery.maxAgeSec).toBe(maxAgeSec);
      const answer = await fetch(delivery.url);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
      expect(await answer.bytes()).toEqual(bytes);
      expect((await fetch(`${delivery.url}0`)).status).toBe(403);
      nowMs += 30_000;
      const again = await store.deliver(stored, "part");
      expect(again?.kind === "elsewhere" && again.url === delivery.url).toBe(serve === "redirect");
      nowMs += livesSec * 1000;
      expect((await fetch(delivery.url)).status).toBe(403);
    }
    await other.remove();
  });

  test("is not given for what is not there, nor for what lies in the folder", async () => {
    const store = subject.again({ serve: "redirect" });
    const stored = await subject.again({ store: "folder" }).put(await png(3, 3), ANY);
    expect((await store.deliver(stored, "whole"))?.kind).toBe("content");
    await rm(join(subject.directory, "sha256"), { recursive: true });
    expect(await store.deliver(stored, "whole")).toBeUndefined();
  });
});

test("what a reader asks of a file without its bytes needs no download", async () => {
  const stored = await subject.store.put(await png(3, 3), ANY);
  const store = subject.again();
  expect(await store.deliver(stored, "nothing")).toEqual({ kind: "present" });
  expect(await store.deliver({ ...stored, sizeBytes: 7 }, "nothing")).toBeUndefined();
  expect(gets()).toBe(1);
});

describe("the collector of a bucket", () => {
  const HOUR_MS = 3_600_000;
  const collect = (needed: readonly string[]) => {
    const contents = openBucketContents(subject.open().objects, subject.store.removeUnheld);
    const retention = {
      neededContents: async (names: readonly string[]) => names.filter((each) => needed.includes(each)),
    };
    return collectContents({ contents, retention, now: Date.now, pause: async () => true });
  };
  const age = (sha256: string) => {
    subject.s3.objects.get(`svc/sha256/${sha256}`)!.storedAt -= 2 * HOUR_MS;
  };

  test("removes what nobody needs for an hour, and nothing that is held or was stored lately", async () => {
    const [left, needed, held, young] = await Promise.all(
      [3, 4, 5, 6].map(async (side) => subject.store.put(await png(side, 3), ANY)),
    );
    for (const { sha256 } of [left!, needed!, held!]) age(sha256);
    const hold = await subject.store.hold(held!);
    age(held!.sha256);
    expect(await collect([needed!.sha256])).toEqual({ files: 1, bytes: left!.sizeBytes, young: 1 });
    expect(await subject.again().open(left!)).toBeUndefined();
    for (const each of [needed!, held!, young!]) expect(await has(subject.store, each)).toBe(true);
    await hold?.release(true);
  });

  test("leaves an old file alone that is stored or held again, because that makes it young", async () => {
    const bytes = await png(3, 3);
    const stored = await subject.store.put(bytes, ANY);
    age(stored.sha256);
    await subject.again().put(bytes, ANY);
    expect(await collect([])).toMatchObject({ files: 0, young: 1 });
    age(stored.sha256);
    await (await subject.again().hold(stored))?.release(true);
    expect(await collect([])).toMatchObject({ files: 0, young: 1 });
    expect(await contentOf(subject.again(), stored)).toEqual(bytes);
  });

  test("is told of what cannot be removed, by whoever meets that", async () => {
    const left: string[] = [];
    const store = subject.again({ onLeft: (sha256) => void left.push(sha256) });
    const [deleted, released] = [
      await store.put(await png(3, 3), ANY),
      await store.stage(await png(4, 4), ANY),
    ];
    await released.keep();
    subject.s3.fault = ({ operation }) =>
      operation === "DeleteObject" ? { status: 403, code: "AccessDenied" } : undefined;
    expect(store.removeUnheld(deleted.sha256)).rejects.toThrow("AccessDenied");
    expect(released.release(false)).rejects.toThrow("AccessDenied");
    await Promise.allSettled([released.release(false), store.removeUnheld(deleted.sha256)]);
    expect(new Set(left)).toEqual(new Set([deleted.sha256, released.file.sha256]));
    subject.s3.fault = () => undefined;
    for (const sha256 of left) await store.removeUnheld(sha256);
    expect([...subject.s3.objects.keys()]).toEqual([]);
  });

  test("finds damage by reading", async () => {
    const stored = await subject.store.put(await png(3, 3), ANY);
    const contents = openBucketContents(subject.open().objects, subject.store.removeUnheld);
    expect(await contents.rehash(stored.sha256)).toBe(stored.sha256);
    subject.s3.objects.get(`svc/sha256/${stored.sha256}`)!.bytes = Buffer.from("other");
    expect(await contents.rehash(stored.sha256)).not.toBe(stored.sha256);
    expect(await contents.rehash("0".repeat(64))).toBeUndefined();
  });
});
