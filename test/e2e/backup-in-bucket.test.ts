import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type FakeS3, KEYS, startFakeS3 } from "../helpers/fake-s3.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  startServer,
  stopServers,
} from "../helpers/server.ts";
import { type Api, createApi, download } from "./support/api.ts";
import { svc, svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);

const TO = "s3://media/backups";
const picture = { model: "sandbox-image", size: "64x64", prompt: "x", sandbox: { delay_ms: 0 } };
let s3: FakeS3;
let server: Server;
let api: Api;
let done: { readonly id: string; readonly bytes: Uint8Array };

const bucketEnv = () => ({
  SVC_ASSETS_BUCKET: "media",
  SVC_ASSETS_PREFIX: "svc",
  SVC_ASSETS_ENDPOINT: s3.endpoint,
  SVC_ASSETS_REGION: s3.region,
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
});
const assets = ["--assets-store", "s3"];
const schedule = ["--backup-every", "10s", "--backup-to", TO, "--backup-keep", "1"];

/** A server whose files and backups lie in buckets. */
beforeAll(async () => {
  s3 = await startFakeS3();
  server = await startServer({ args: [...assets, ...schedule], env: bucketEnv() });
  api = createApi(server.url, server.firstKey());
  const task = await api.make(picture);
  done = { id: task.task_id, bytes: await download(task.result?.[0]) };
});
afterEach(() => {
  s3.fault = () => undefined;
});
afterAll(async () => {
  await stopServers();
  s3.stop();
});

const below = (prefix: string) => [...s3.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
const backups = () => below("backups/").filter((key) => key.endsWith("/manifest.jsonl"));
const run = (...args: string[]) => svc(args, { env: bucketEnv() });
const newFolder = () => join(emptyFolder("restored"), "data");

test("a server backs itself up to a bucket in a thread, keeps as many as it is told, and is restored with its pictures", async () => {
  await server.says(/"backed up".*|.*"msg":"backed up"/);
  const made = (await svcJson(["db", "backup", TO, "--data-dir", server.dataDir, "--keep", "1"], {
    env: bucketEnv(),
  })) as Record<string, unknown>;
  expect(made).toMatchObject({ objects: 1, missing: [], bucket: { name: "media", prefix: "svc/" } });
  expect(backups()).toHaveLength(1);
  const checked = await svcJson(["db", "check", TO], { env: bucketEnv() });
  expect(checked).toMatchObject({ path: made.path, objects: 1, lost_objects: [], looked: true });
  const [key = ""] = below("svc/sha256/");
  const object = s3.objects.get(key)!;
  s3.objects.delete(key);
  const lost = await run("db", "check", TO);
  expect([lost.exitCode, lost.stderr]).toEqual([1, expect.stringContaining(key.slice("svc/".length))]);

  // A copy of the bucket, named on the command line.
  s3.objects.set(`copy/${key.slice("svc/".length)}`, object);
  const dataDir = newFolder();
  const restored = await svcJson(
    ["db", "restore", `${made.path}`, "--bucket", "s3://media/copy", "--data-dir", dataDir],
    { env: bucketEnv() },
  );
  expect(restored).toMatchObject({ lost_objects: [], found_in: { prefix: "copy/" } });
  expect(await svcJson(["audit", "--data-dir", dataDir])).toMatchObject({ adds_up: true });
  const again = await startServer({
    ...{ dataDir, args: [...assets, "--assets-prefix", "copy"], env: bucketEnv() },
  });
  const task = await createApi(again.url, api.key).wait(done.id);
  expect(await download(task.result?.[0])).toEqual(new Uint8Array(done.bytes));
  await again.stop();
  s3.objects.set(key, object);

  // The restored folder is another one: neither the bucket nor the place of the backups is its own.
  const refused = await run("db", "backup", TO, "--data-dir", dataDir);
  expect([refused.exitCode, refused.stderr]).toEqual([7, expect.stringContaining(server.dataDir)]);
});

test("a backup that is killed at any call leaves none that looks whole, and the next cleans up", async () => {
  await server.stop();
  const to = "s3://media/killed";
  const whole = () => below("killed/backups/").filter((key) => key.endsWith("/manifest.jsonl"));
  const backup = ["db", "backup", to, "--data-dir", server.dataDir];
  for (const at of [1, 4, 6, 7, 8]) {
    let calls = 0;
    const isThere = Promise.withResolvers<void>();
    s3.fault = () => {
      if (++calls < at) return undefined;
      isThere.resolve();
      return "silent";
    };
    const before = whole().length;
    const child = Bun.spawn([SVC, ...backup], {
      ...{ env: cleanEnvironment(bucketEnv()), stdout: "ignore", stderr: "ignore" },
    });
    await isThere.promise;
    child.kill("SIGKILL");
    await child.exited;
    s3.fault = () => undefined;
    expect([at, whole().length]).toEqual([at, before]);
  }
  await svcJson(backup, { env: bucketEnv() });
  expect(await svcJson(["db", "check", to], { env: bucketEnv() })).toMatchObject({ lost_objects: [] });
  const names = new Set(below("killed/backups/").map((key) => key.split("/")[2]));
  expect(names.size).toBe(1);
  expect(existsSync(join(server.dataDir, "backup.part"))).toBe(false);
});

test("a damaged backup is refused by the name of what is wrong, and nothing is written", async () => {
  const [key = ""] = below("killed/backups/").filter((each) => each.includes("/files/"));
  s3.objects.get(key)!.bytes = Buffer.from("something else");
  const dataDir = newFolder();
  const { exitCode, stderr } = await run(
    "db",
    "restore",
    "s3://media/killed",
    "--data-dir",
    dataDir,
    "--json",
  );
  expect([exitCode, existsSync(dataDir)]).toEqual([1, false]);
  expect(JSON.parse(stderr).error).toMatchObject({
    code: "backup_refused",
    problems: [{ problem: expect.stringContaining("/files/") }],
  });
  const none = await run("db", "restore", "s3://media/nothing", "--data-dir", dataDir);
  expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("There is no backup of svc in")]);
  expect(readdirSync(join(dataDir, ".."))).toEqual([]);
});
