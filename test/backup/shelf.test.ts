import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ownership } from "../../src/assets/owner.ts";
import { S3Client } from "../../src/assets/s3/client.ts";
import { BucketTaken, openBucketMark } from "../../src/assets/s3/owner.ts";
import { openShelf } from "../../src/assets/s3/shelf.ts";
import { timeOfBackup } from "../../src/backup/backup.ts";
import { fetchFromShelf, findOnShelf, lostObjects } from "../../src/backup/shelf-read.ts";
import { writeToShelf } from "../../src/backup/shelf-write.ts";
import { type BackupPlan, ForeignBackups } from "../../src/backup/write.ts";
import { createSystemClock } from "../../src/runtime/clock.ts";
import { type FakeS3, type Fault, startFakeS3 } from "../helpers/fake-s3.ts";
import { bucketOf } from "../helpers/s3-store.ts";
import { ALLOWED, AT, contentOf, dataFolder, emptyFolder, pathOf, sha256 } from "./support.ts";

const HOUR = 3_600_000;
const PART_BYTES = 32 * 1024;
const OPTIONS = { allowed: ALLOWED, database: "svc.db" };
let s3: FakeS3;
beforeEach(async () => {
  s3 = await startFakeS3({ minPartBytes: PART_BYTES });
});
afterEach(() => s3.stop());

function shelfOf(name = "one", patienceMs = 5_000) {
  const real = createSystemClock();
  // Retries wait no longer than tests want to.
  const after = (delayMs: number, run: () => void) =>
    real.after(delayMs < 10_000 ? Math.min(delayMs, 2) : delayMs, run);
  const clock = { ...real, after };
  const client = new S3Client({ bucket: bucketOf(s3), clock, random: () => 0, patienceMs, answerMs: 10_000 });
  const me = { folder: name, host: "h", path: `/srv/${name}` };
  return openShelf(
    client,
    new Ownership({ mark: openBucketMark(client), clock, me, advice: "" }),
    PART_BYTES,
  );
}

const write = (
  plan: BackupPlan,
  atMs: number,
  more: { keep?: number; shelf?: ReturnType<typeof shelfOf> } = {},
) =>
  writeToShelf(more.shelf ?? shelfOf(), {
    ...{ workspace: mkdtempSync(join(emptyFolder(), "w")), atMs, plan, keep: more.keep },
  });

/** After all backups were made. */
const LATER = AT + 1_000 * HOUR;

/** Reads the newest backup to its end. @returns its files */
async function fetched(name?: string): Promise<Record<string, string>> {
  const to = emptyFolder();
  const shelf = shelfOf();
  await fetchFromShelf(shelf, await findOnShelf(shelf, LATER, name), to, { ...OPTIONS, keepsAll: true });
  return contentOf(join(to, "data"));
}

const keys = () => [...s3.objects.keys()].filter((key) => key !== "svc/owner.json").sort();
const large = "large ".repeat(20_000);
/** One that comes in parts. */
const files = ["one", "two", large];
const expected = (contents: readonly string[]) => ({
  "svc.db": `database of ${contents.join(", ")}`,
  "svc.yaml": "settings",
  ...Object.fromEntries(contents.map((content) => [pathOf(content), content])),
});

test("a backup is sent with its manifest last, and is fetched as it was", async () => {
  const made = await write(dataFolder(files).plan, AT);
  expect(made).toMatchObject({ files: 5, missing: [], objects: 0, removed: [] });
  expect(made.path).toBe("s3://media/svc/backups/2026-11-23T12-00-00Z");
  expect(s3.requests.findLast(({ method }) => method === "PUT")?.key).toEndWith("/manifest.jsonl");
  expect(await fetched()).toEqual(expected(files));
  expect(s3.uploads.size).toBe(0);
});

test("a second backup sends what is new; old ones go with what nobody has any more", async () => {
  const first = await write(dataFolder(files).plan, AT);
  s3.requests.length = 0;
  const second = await write(dataFolder(["one", large, "three"]).plan, AT);
  expect(second.name).toBe(`${first.name}-2`);
  expect(second.copiedBytes).toBe(`database of one, ${large}, three`.length + "settingsthree".length);
  const sent = s3.requests.filter(({ method, key }) => method === "PUT" && key.startsWith("svc/content/"));
  expect(sent.map(({ key }) => key)).toEqual([`svc/content/${sha256("three")}`]);
  expect(await fetched(first.name)).toEqual(expected(files));
  const third = await write(dataFolder(["one", "three"]).plan, AT + HOUR, { keep: 2 });
  expect(third.removed).toEqual([first.name]);
  expect(keys().filter((key) => key.startsWith("svc/content/"))).toEqual(
    ["one", "three", large].map((each) => `svc/content/${sha256(each)}`).sort(),
  );
  expect(keys().some((key) => key.includes(`/${first.name}/`))).toBe(false);
  expect(await fetched(second.name)).toEqual(expected(["one", large, "three"]));
});

test("after the clock was ahead, what was made then goes first, with what nobody else has", async () => {
  const right = await write(dataFolder(["one"]).plan, AT);
  const ahead = await write(dataFolder(["one", "two"]).plan, AT + 9_000 * HOUR);
  const made = await write(dataFolder(["one", "three"]).plan, AT + HOUR, { keep: 2 });
  expect(made.removed).toEqual([ahead.name]);
  const contents = ["one", "three"].map((each) => `svc/content/${sha256(each)}`);
  expect(keys().filter((key) => key.startsWith("svc/content/"))).toEqual(contents.sort());
  expect(await fetched(right.name)).toEqual(expected(["one"]));
  expect(await fetched(made.name)).toEqual(expected(["one", "three"]));
});

test("a failure at any call leaves whole backups alone, and the next call cleans up", async () => {
  const before = ["one", "two"];
  await write(dataFolder(before).plan, AT);
  const { plan } = dataFolder(files);
  const start = s3.requests.length;
  await write(plan, AT + HOUR);
  const calls = s3.requests.length - start;
  expect(calls).toBeGreaterThan(15);
  for (let failing = 0; failing < calls; failing++) {
    s3.objects.clear();
    await write(dataFolder(before).plan, AT);
    const from = s3.requests.length;
    // From here on nothing is answered, as after a kill.
    s3.fault = () =>
      s3.requests.length - from > failing ? { status: 403, code: "AccessDenied" } : undefined;
    const shelf = shelfOf("one", 0);
    await expect(write(plan, AT + HOUR, { shelf })).rejects.toThrow("AccessDenied");
    s3.fault = () => undefined;
    const whole = keys().filter((key) => key.endsWith("manifest.jsonl"));
    for (const key of whole) expect(await fetched(key.split("/").at(-2))).toBeDefined();
    const made = await write(plan, AT + 2 * HOUR, { keep: 1 });
    expect(await fetched()).toEqual(expected(files));
    const own = keys().filter((key) => key.startsWith("svc/backups/"));
    expect([failing, own.filter((key) => !key.includes(`/${made.name}/`))]).toEqual([failing, []]);
    expect(keys()).toHaveLength(3 + 3);
    expect(s3.uploads.size).toBe(0);
  }
}, 60_000);

test("what fails once at any call is tried again, and nothing wrong is stored", async () => {
  const { plan } = dataFolder(files);
  const faults: Fault[] = [
    ...(["broken", "answer lost", "changed", "flipped", "cut"] as const),
    { status: 503, code: "SlowDown" },
    { status: 500, code: "InternalError" },
  ];
  for (const fault of faults) {
    const seen = new Map<string, number>();
    s3.objects.clear();
    s3.fault = (request) => {
      const id = `${request.operation} ${request.key} ${request.query.get("partNumber") ?? ""}`;
      seen.set(id, (seen.get(id) ?? 0) + 1);
      // What changes on the way back of a list is no list any more.
      if (fault === "flipped" && request.method === "GET" && !request.key.includes("/content/"))
        return undefined;
      return seen.get(id) === 1 ? fault : undefined;
    };
    await write(plan, AT);
    s3.fault = () => undefined;
    expect([fault, await fetched()]).toEqual([fault, expected(files)]);
  }
}, 60_000);

test("a download that is cut off, breaks or is slow goes on, and wrong bytes are named", async () => {
  const made = await write(dataFolder(files).plan, AT);
  const faults = ["cut", "broken", { status: 503, code: "SlowDown" }, "cut without ranges"] as const;
  for (const each of faults) {
    const seen = new Set<string>();
    const fault = each === "cut without ranges" ? "cut" : each;
    s3.lacks = each === fault ? [] : ["range"];
    s3.fault = ({ operation, key }) => {
      if (operation !== "GetObject" || seen.has(key)) return undefined;
      seen.add(key);
      return fault;
    };
    expect(await fetched()).toEqual(expected(files));
  }
  s3.fault = () => undefined;
  const shared = s3.objects.get(`svc/content/${sha256("two")}`)!;
  shared.bytes = Buffer.from("twO");
  const problem = { problem: expect.stringContaining("has other bytes than were backed up") };
  const refused = await fetched().catch((error: unknown) => error);
  expect(refused).toMatchObject({ name: "BackupRefused", problems: [{ path: pathOf("two"), ...problem }] });
  s3.objects.delete(`svc/content/${sha256("two")}`);
  expect(fetched()).rejects.toThrow("a file is not what the manifest says");
  await write(dataFolder(files).plan, AT + HOUR);
  expect(await fetched(made.name)).toEqual(expected(files));
});

test("a check reads everything and keeps the database alone", async () => {
  await write(dataFolder(files).plan, AT);
  const [to, shelf] = [emptyFolder(), shelfOf()];
  const summary = await fetchFromShelf(shelf, await findOnShelf(shelf, LATER), to, {
    ...OPTIONS,
    keepsAll: false,
  });
  expect([
    summary.files,
    Object.keys(contentOf(to))
      .filter((name) => !name.endsWith(".part"))
      .sort(),
  ]).toEqual([5, ["data/svc.db", "manifest.jsonl"]]);
});

test("without a whole manifest there is no backup, and contents stay where one that stays cannot be read", async () => {
  expect(findOnShelf(shelfOf(), LATER)).rejects.toThrow("There is no backup of svc in s3://media/svc/");
  const first = await write(dataFolder(["one"]).plan, AT);
  const key = `svc/backups/${first.name}/manifest.jsonl`;
  const manifest = s3.objects.get(key)!;
  const whole = manifest.bytes;
  manifest.bytes = whole.subarray(0, whole.indexOf("\n") + 1);
  expect(fetched()).rejects.toThrow("cannot be used");
  await write(dataFolder(["two"]).plan, AT + HOUR);
  expect(keys()).toContain(`svc/content/${sha256("one")}`);
  manifest.bytes = whole;
  expect(await fetched(first.name)).toEqual(expected(["one"]));
  s3.objects.delete(key);
  expect(findOnShelf(shelfOf(), LATER, first.name)).rejects.toThrow("written last");
  await write(dataFolder(["two"]).plan, AT + 2 * HOUR);
  expect(keys().filter((each) => each.includes(first.name) || each.includes(sha256("one")))).toEqual([]);
  expect(timeOfBackup((await findOnShelf(shelfOf(), LATER)).name)).toBe(AT + 2 * HOUR);
});

test("another data folder is refused, and one of another service even where it has taken the place", async () => {
  await write(dataFolder(["one"], { source: "acc_1" }).plan, AT);
  const before = keys();
  expect(write(dataFolder(["x"]).plan, AT, { shelf: shelfOf("two") })).rejects.toThrow(BucketTaken);
  s3.objects.delete("svc/owner.json");
  const foreign = write(dataFolder(["x"], { source: "acc_2" }).plan, AT + HOUR, { shelf: shelfOf("two") });
  expect(foreign).rejects.toThrow(ForeignBackups);
  await foreign.catch(() => undefined);
  expect(keys()).toEqual(before);
});

test("files in the bucket of the service are named, and those that are gone are found", async () => {
  const { folder, plan } = dataFolder(["here"]);
  const there = { sha256: sha256("there"), sizeBytes: 5 };
  const moved = { sha256: sha256("moved"), sizeBytes: 5 };
  const bucket = { endpoint: "https://s3.example", region: "r", name: "media", prefix: "svc/" };
  const made = await write(
    {
      ...plan,
      describe: (copy) => ({ ...plan.describe(copy), bucket }),
      *files(copy) {
        yield* plan.files(copy);
        yield { path: pathOf("there"), from: undefined, expected: there };
        yield { path: pathOf("moved"), from: join(folder, "moved while it was backed up"), expected: moved };
      },
    },
    AT,
  );
  expect(made).toMatchObject({ objects: 2, missing: [], bucket });
  const [to, shelf] = [emptyFolder(), shelfOf()];
  const summary = await fetchFromShelf(shelf, await findOnShelf(shelf, LATER), to, {
    ...OPTIONS,
    keepsAll: true,
  });
  expect(summary).toMatchObject({ objects: 2, bucket });
  const listed = async function* (all: (typeof there)[]) {
    yield* all;
  };
  expect(await lostObjects(to, listed([there, moved]))).toEqual([]);
  expect(await lostObjects(to, listed([{ ...there, sizeBytes: 4 }]))).toEqual(
    [there.sha256, moved.sha256].sort(),
  );
});

test("a damaged file of the data folder is told as missing, and one that is new under a wrong length is replaced", async () => {
  const { folder, plan, put } = dataFolder(["one", "two"]);
  put(pathOf("one"), "onE");
  rmSync(join(folder, pathOf("two")));
  expect((await write(plan, AT)).missing).toEqual([
    { path: pathOf("one"), reason: "damaged" },
    { path: pathOf("two"), reason: "absent" },
  ]);
  writeFileSync(join(folder, pathOf("one")), "one");
  put(pathOf("two"), "two");
  await write(plan, AT + HOUR);
  s3.objects.get(`svc/content/${sha256("one")}`)!.bytes = Buffer.from("on");
  await write(plan, AT + 2 * HOUR);
  expect(await fetched()).toEqual(expected(["one", "two"]));
  expect(readdirSync(folder).sort()).toEqual(["assets", "svc.yaml"]);
});
