import { afterEach, beforeEach, expect, test } from "bun:test";
import { Ownership } from "../../../src/assets/owner.ts";
import { S3Client } from "../../../src/assets/s3/client.ts";
import { Objects } from "../../../src/assets/s3/objects.ts";
import { BucketTaken, openBucketMark } from "../../../src/assets/s3/owner.ts";
import { type FakeS3, type Fault, startFakeS3 } from "../../helpers/fake-s3.ts";
import { pauselessClock } from "../../helpers/pauseless-clock.ts";
import { bucketOf } from "../../helpers/s3-store.ts";

let s3: FakeS3;
const clock = pauselessClock();
beforeEach(async () => {
  s3 = await startFakeS3();
});
afterEach(() => s3.stop());

function folder(name: string) {
  const client = new S3Client({ bucket: bucketOf(s3), clock, random: () => 0, patienceMs: 1_000 });
  const me = { folder: `folder_${name}`, host: `${name}.example`, path: `/srv/${name}` };
  const ownership = new Ownership({ mark: openBucketMark(client), clock, me, advice: "Do something." });
  return { ownership, objects: new Objects(client, undefined, () => ownership.require()) };
}

const owner = () => JSON.parse(s3.objects.get("svc/owner.json")?.bytes.toString() ?? "null");

test("the first folder has the prefix, and the second is told whose it is and changes nothing", async () => {
  const [first, second] = [folder("one"), folder("two")];
  await first.ownership.require();
  expect(owner()).toMatchObject({ folder: "folder_one", host: "one.example", path: "/srv/one" });
  expect(second.ownership.require()).rejects.toThrow(
    /belongs to the data folder \/srv\/one of the host one\.example, since .*Do something\./,
  );
  await folder("one").ownership.require();
  s3.requests.length = 0;
  const bytes = Buffer.from("x");
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  const source = { sha256, sizeBytes: 1, type: "image/png", read: async () => bytes };
  const changes = [
    () => second.objects.put(source, { isNew: true }),
    () => second.objects.remove(sha256),
    () => second.objects.renew(source),
    () => second.objects.abandonUploads(0),
  ];
  for (const change of changes) expect(change()).rejects.toThrow(BucketTaken);
  await Promise.allSettled(changes.map((change) => change()));
  expect(new Set(s3.operations())).toEqual(new Set(["GetObject"]));
  expect(await first.objects.put(source, { isNew: true })).toBe("stored");
});

test("of folders that come at once, one has the prefix", async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, i) => folder(`f${i}`).ownership.require()),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a folder takes over on purpose, and what was there before it stores nothing a minute later", async () => {
  const [first, second] = [folder("one"), folder("two")];
  await first.ownership.require();
  expect(await second.ownership.other()).toContain("/srv/one");
  expect(await second.ownership.take()).toContain("/srv/one");
  expect(await second.ownership.take()).toBeUndefined();
  await second.ownership.require();
  await first.ownership.require();
  clock.pass(60_000);
  expect(first.ownership.require()).rejects.toThrow(BucketTaken);
  // Each has read the owner before any of them writes.
  const [haveRead, arrived] = [Promise.withResolvers<void>(), { count: 0 }];
  s3.fault = async ({ operation }) => {
    if (operation !== "PutObject") return undefined;
    if (++arrived.count === 3) haveRead.resolve();
    await haveRead.promise;
    return undefined;
  };
  const takers = ["three", "four", "five"].map((name) => folder(name).ownership.take());
  const taken = await Promise.allSettled(takers);
  expect(taken.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("who takes what another takes at the same moment is told so, and does not overwrite it", async () => {
  await folder("one").ownership.require();
  s3.fault = ({ operation, headers }) => {
    if (operation !== "PutObject") return undefined;
    expect(headers["if-match"]).toBe(s3.objects.get("svc/owner.json")?.etag);
    const bytes = Buffer.from(JSON.stringify({ ...owner(), folder: "folder_three", path: "/srv/three" }));
    s3.objects.set("svc/owner.json", { ...s3.objects.get("svc/owner.json")!, bytes, etag: '"another"' });
    return undefined;
  };
  const taking = folder("two").ownership.take();
  expect(taking).rejects.toThrow("/srv/three");
  await taking.catch(() => undefined);
  expect(owner().folder).toBe("folder_three");
});

test("a file without another copy waits for the owner as long as for the write", async () => {
  const { ownership, objects } = folder("one");
  await ownership.require();
  clock.pass(60_000);
  let [failures, until] = [0, Number.POSITIVE_INFINITY];
  s3.fault = ({ operation }) =>
    operation === "GetObject" && ++failures < until ? { status: 503, code: "SlowDown" } : undefined;
  const bytes = Buffer.from("only here");
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  const source = { sha256, sizeBytes: bytes.length, type: "image/png", read: async () => bytes };
  const impatient = objects.put(source, { isNew: true });
  expect(impatient).rejects.toThrow("SlowDown");
  await impatient.catch(() => undefined);
  // More than the usual patience has room for.
  until = 3 * failures;
  expect(await objects.put(source, { isNew: true, patienceMs: 60_000 })).toBe("stored");
  expect(failures).toBeGreaterThanOrEqual(until);
});

test("an answer that is lost, cut or an error for a while ends in one owner", async () => {
  const faults: Fault[] = ["broken", "answer lost", "changed", { status: 503, code: "SlowDown" }, "cut"];
  for (const operation of ["GetObject", "PutObject"])
    for (const fault of faults) {
      s3.objects.clear();
      let times = 0;
      s3.fault = (request) => (request.operation === operation && times++ < 1 ? fault : undefined);
      await folder("one").ownership.require();
      s3.fault = () => undefined;
      expect([operation, fault, owner().folder]).toEqual([operation, fault, "folder_one"]);
      expect(folder("two").ownership.require()).rejects.toThrow(BucketTaken);
    }
});

test("without conditions, what was put is read again", async () => {
  s3.lacks = ["condition"];
  await folder("one").ownership.require();
  expect(folder("two").ownership.require()).rejects.toThrow(BucketTaken);
  expect(await folder("two").ownership.take()).toContain("/srv/one");
  expect(folder("one").ownership.require()).rejects.toThrow(BucketTaken);
});

test("an object of another program is nobody's to overwrite", async () => {
  for (const text of ["", "not JSON", '{"folder":"folder_one"}']) {
    const bytes = Buffer.from(text);
    s3.objects.set("svc/owner.json", { bytes, etag: '"x"', checksum: undefined, storedAt: 0, type: "" });
    expect(folder("one").ownership.require()).rejects.toThrow("belongs to another program");
  }
});
