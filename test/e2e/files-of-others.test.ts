import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type FakeS3, KEYS, startFakeS3 } from "../helpers/fake-s3.ts";
import { emptyFolder, type Server, spawnServer, startServer, stopServers } from "../helpers/server.ts";
import { HAS_POSTGRES } from "../moving/database-servers.ts";
import { createApi } from "./support/api.ts";
import { svc, svcJson } from "./support/command.ts";
import { usePostgresAndBucket } from "./support/postgres-and-bucket.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const PICTURE = { model: "sandbox-image", size: "16x16", sandbox: { delay_ms: 0 } };
const HOURS_AGO = Date.now() / 1000 - 3 * 3600;

const bucketOf = (s3: FakeS3) => ({
  SVC_ASSETS_STORE: "s3",
  SVC_ASSETS_BUCKET: "media",
  SVC_ASSETS_PREFIX: "svc",
  SVC_ASSETS_ENDPOINT: s3.endpoint,
  SVC_ASSETS_REGION: s3.region,
  AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
});

const make = (server: Server, prompt: string) =>
  createApi(server.url, server.firstKey()).make({ ...PICTURE, prompt });

function loseDatabase(dataDir: string): void {
  for (const name of databases(dataDir)) rmSync(join(dataDir, name));
}
const databases = (dataDir: string) => readdirSync(dataDir).filter((name) => name.startsWith("svc.db"));

/** The paths of stored files below a folder. */
const filesIn = (folder: string) =>
  readdirSync(join(folder, "sha256"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.length > 64)
    .map((path) => join(folder, "sha256", path));
/** Makes files old enough for a collector. */
function age(folder: string): void {
  for (const path of filesIn(folder)) utimesSync(path, HOURS_AGO, HOURS_AGO);
}

describe("a bucket", () => {
  let s3: FakeS3;
  beforeAll(async () => {
    s3 = await startFakeS3();
  });
  afterAll(() => s3.stop());
  const objects = () => [...s3.objects.keys()].filter((key) => key.startsWith("svc/sha256/"));

  test("keeps its files where the database of its data folder was lost, until they are moved away", async () => {
    const env = bucketOf(s3);
    const server = await startServer({ env });
    await make(server, "kept");
    await server.stop();
    const { dataDir } = server;
    loseDatabase(dataDir);
    s3.requests.length = 0;
    for (const command of [["serve", "--port", "0"], ["migrate"]]) {
      const { exitCode, stderr } = await svc([...command, "--data-dir", dataDir], { env });
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringMatching(
          /There is no .*svc\.db, but the bucket media\/svc\/ has the files of one, which a new database would remove/,
        ),
      ]);
      expect(databases(dataDir)).toEqual([]);
    }
    // Each start reads the owner and lists one key.
    expect(s3.operations()).toEqual(["GetObject", "ListObjectsV2", "GetObject", "ListObjectsV2"]);
    s3.fault = () => "broken";
    const away = await svc(["serve", "--port", "0", "--data-dir", dataDir], { env });
    expect([away.exitCode, databases(dataDir)]).toEqual([1, []]);
    s3.fault = () => undefined;
    expect(objects()).toHaveLength(1);
    for (const key of objects()) s3.objects.delete(key);
    const anew = await startServer({ folder: server.folder, env });
    await make(anew, "anew");
    expect(objects()).toHaveLength(1);
    await anew.stop();
  });

  test("whose owner is not known goes to the data folder that knows its files, and to no other", async () => {
    const env = { ...bucketOf(s3), SVC_ASSETS_PREFIX: "old" };
    const server = await startServer({ env });
    await make(server, "known");
    await server.stop();
    s3.objects.delete("old/owner.json");
    const other = spawnServer({ env });
    expect(await other.exited).toBe(1);
    expect(other.stderr()).toMatch(/knows none of the files in the bucket media\/old at .*svc assets claim/);
    expect(s3.objects.has("old/owner.json")).toBe(false);
    const again = await startServer({ folder: server.folder, env });
    expect(s3.objects.has("old/owner.json")).toBe(true);
    await again.stop();
  });
});

describe("a folder of files", () => {
  /** A server on a data folder of its own, with its files elsewhere. */
  const start = (path: string, folder = emptyFolder("server")) =>
    startServer({ folder, env: { SVC_ASSETS_PATH: path } });
  const owner = (path: string) => JSON.parse(readFileSync(join(path, "owner.json"), "utf8")).path;

  test("belongs to one data folder: another one is refused, removes nothing, and takes it where the operator says so", async () => {
    const path = join(emptyFolder("files"), "media");
    const env = { SVC_ASSETS_PATH: path };
    const one = await start(path);
    await make(one, "of the first");
    age(path);
    const stored = filesIn(path);
    const other = await startServer();
    await other.stop();
    const refused = spawnServer({ folder: other.folder, env });
    expect(await refused.exited).toBe(1);
    for (const part of [one.dataDir, other.dataDir, path, "assets.path", "svc assets claim"])
      expect(refused.stderr()).toContain(part);
    const there = ["--data-dir", other.dataDir];
    const collected = await svc(["assets", "gc", "--yes", ...there], { env });
    expect([collected.exitCode, collected.stderr]).toEqual([1, expect.stringContaining(one.dataDir)]);
    expect(filesIn(path)).toEqual(stored);
    const { checks } = (await svc(["doctor", "--json", ...there], { env }).then(({ stdout }) =>
      JSON.parse(stdout),
    )) as { checks: { id: string; status: string; message: string }[] };
    expect(checks.find(({ id }) => id === "files_owner")).toMatchObject({
      status: "error",
      message: expect.stringContaining(one.dataDir),
    });
    expect((await svc(["assets", "claim", "--no-input", ...there], { env })).exitCode).toBe(2);
    expect(await svcJson(["assets", "claim", "--yes", ...there], { env })).toMatchObject({
      folder: path,
      folder_before: expect.stringContaining(one.dataDir),
      bucket: null,
    });
    // Whoever had it stops by itself, before it stores or removes anything else there.
    expect(await one.exited).toBe(14);
    expect(owner(path)).toBe(other.dataDir);
    await (await start(path, other.folder)).stop();
    const back = spawnServer({ folder: one.folder, env });
    expect(await back.exited).toBe(1);
    // A data folder without a database gets none there, and is told of files and owner.
    const none = spawnServer({ env });
    expect(await none.exited).toBe(1);
    expect(none.stderr()).toContain(`${path} (which belongs to the data folder ${other.dataDir} of the host`);
    expect(databases(none.dataDir)).toEqual([]);
  });

  test("without a mark, of an earlier version, goes to the data folder that knows its files, and to no other", async () => {
    const path = join(emptyFolder("files"), "media");
    const one = await start(path);
    await make(one, "known");
    await one.stop();
    rmSync(join(path, "owner.json"));
    const other = await startServer();
    await make(other, "its own");
    await other.stop();
    const refused = spawnServer({ folder: other.folder, env: { SVC_ASSETS_PATH: path } });
    expect(await refused.exited).toBe(1);
    expect(refused.stderr()).toContain(`knows none of the files in the folder ${path}`);
    await (await start(path, one.folder)).stop();
    expect(owner(path)).toBe(one.dataDir);
  });

  test("goes where its data folder is moved, and stays what it was without", async () => {
    const server = await startServer();
    const { result = [] } = await make(server, "moved");
    await server.stop();
    const folder = emptyFolder("moved");
    renameSync(server.dataDir, join(folder, "svc-data"));
    const moved = await startServer({ folder });
    expect((await fetch(moved.url + new URL(result[0] ?? "").pathname)).status).toBe(200);
    await moved.stop();
  });

  test("of a backup that is restored is its new data folder's", async () => {
    const server = await startServer();
    await make(server, "backed up");
    await server.stop();
    const to = emptyFolder("backups");
    await svcJson(["db", "backup", to, "--data-dir", server.dataDir]);
    const folder = emptyFolder("restored");
    const dataDir = join(folder, "svc-data");
    await svcJson(["db", "restore", to, "--data-dir", dataDir]);
    expect(existsSync(join(dataDir, "assets/owner.json"))).toBe(false);
    await (await startServer({ folder })).stop();
    expect(owner(join(dataDir, "assets"))).toBe(dataDir);
  });

  test("has in tmp what is not svc's, and keeps it", async () => {
    const path = join(emptyFolder("files"), "media");
    const server = await start(path);
    await server.stop();
    cpSync(import.meta.path, join(path, "tmp/letter.txt"), { recursive: true });
    cpSync(import.meta.path, join(path, "sha256/notes.txt"), { recursive: true });
    await (await start(path, server.folder)).stop();
    expect([existsSync(join(path, "tmp/letter.txt")), existsSync(join(path, "sha256/notes.txt"))]).toEqual([
      true,
      true,
    ]);
  });
});

describe.skipIf(!HAS_POSTGRES)("files that nodes share", () => {
  const given = usePostgresAndBucket();
  const env = (url: string, more: Record<string, string>) => ({
    ...{ SVC_DATABASE: url, SVC_SECRET_KEY: "k".repeat(43), ...more },
  });

  /** A node that is not the first of its database has no first key to tell. */
  async function node(url: string, more: Record<string, string>): Promise<Server> {
    const started = spawnServer({ env: env(url, more) });
    await started.says(/"msg":"ready"/);
    return started;
  }

  test("in a folder or a bucket are no new database's: its node is refused, marked or not", async () => {
    const path = join(emptyFolder("files"), "media");
    const places = [{ SVC_ASSETS_PATH: path }, bucketOf(given.s3)];
    for (const place of places) {
      const [first, second] = [await given.postgres.newDatabase(), await given.postgres.newDatabase()];
      const one = await startServer({ env: env(first, place) });
      await make(one, "shared");
      await (await node(first, place)).stop();
      await one.stop();
      const marked = spawnServer({ env: env(second, place) });
      expect(await marked.exited).toBe(1);
      const [known, other] = [first, second].map((url) => new URL(url).pathname.slice(1));
      expect(marked.stderr()).toMatch(
        new RegExp(`belongs to the database ${known} .*Give the database ${other} `),
      );
      if (place === places[0]) rmSync(join(path, "owner.json"));
      else given.s3.objects.delete("svc/owner.json");
      const unmarked = spawnServer({ env: env(second, place) });
      expect(await unmarked.exited).toBe(1);
      expect(unmarked.stderr()).toContain("knows none of the files");
      await (await node(first, place)).stop();
      expect(await svcJson(["assets", "claim", "--yes"], { env: env(second, place) })).toMatchObject({
        data_dir: expect.any(String),
      });
      await (await node(second, place)).stop();
    }
  });

  test("in the folder of a data folder are the database's after a move, and the folder's again when it moves back", async () => {
    const url = await given.postgres.newDatabase();
    const server = await startServer({ env: { SVC_SECRET_KEY: "k".repeat(43) } });
    const { result = [] } = await make(server, "moved");
    const read = async (from: Server) => (await fetch(from.url + new URL(result[0] ?? "").pathname)).status;
    await server.stop();
    const { dataDir } = server;
    await svcJson(["db", "move", "--to", url, "--data-dir", dataDir]);
    const files = { SVC_ASSETS_PATH: join(dataDir, "assets") };
    const served = await node(url, files);
    expect(await read(served)).toBe(200);
    await served.stop();
    await svcJson(["db", "move", "--database", url, "--to", dataDir]);
    const back = await startServer({ folder: server.folder, env: { SVC_SECRET_KEY: "k".repeat(43) } });
    expect(await read(back)).toBe(200);
    await back.stop();
  });
});
