import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { lockDirectory } from "../../src/runtime/directory-lock.ts";
import { emptyFolder, svc } from "./support.ts";

/** A folder with a data folder in it. */
async function dataFolder(): Promise<{ cwd: string; file: string }> {
  const cwd = emptyFolder();
  await svc(["migrate"], { cwd });
  await svc(["accounts", "create", "studio", "--credit", "5.00"], { cwd });
  return { cwd, file: join(cwd, "svc-data/svc.db") };
}

async function check(cwd: string) {
  const { exitCode, stdout, stderr } = await svc(["db", "check", "--json"], { cwd });
  return { exitCode, stderr, ...JSON.parse(stdout) };
}

test("a sound database is told with its sizes and migrations", async () => {
  const { cwd, file } = await dataFolder();
  const found = await check(cwd);
  expect(found).toMatchObject({
    exitCode: 0,
    stderr: "",
    ok: true,
    faults: [],
    database_bytes: statSync(file).size,
  });
  expect(found.pages * found.page_bytes).toBe(found.database_bytes);
  expect(found.schema.current).toBe(found.schema.latest);
  const { stdout } = await svc(["db", "check"], { cwd });
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("ok");
});

test("damage ends with exit code 1 and says of which kind it is", async () => {
  const { cwd, file } = await dataFolder();
  // A page of an index, in the middle of the file.
  const size = statSync(file).size;
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(4096, 0x5a), 0, 4096, Math.floor(size / 8192) * 4096);
  closeSync(descriptor);
  const found = await check(cwd);
  expect([found.exitCode, found.ok]).toEqual([1, false]);
  expect(["integrity", "unreadable"]).toContain(found.faults[0].kind);
});

test("a file that is no database is unreadable, and a row without what it names is told", async () => {
  const { cwd, file } = await dataFolder();
  using db = new Database(file);
  db.run("pragma foreign_keys = off");
  db.run(
    "insert into api_key (id, account_id, name, hash, display, created_at, policy) values ('k', 'gone', 'n', 'h', 'd', 1, '{}')",
  );
  db.close();
  expect((await check(cwd)).faults).toMatchObject([
    { kind: "reference", message: expect.stringContaining("api_key names a row of account") },
  ]);
  writeFileSync(file, "no database at all, but a text that is long enough to be one");
  expect((await check(cwd)).faults).toMatchObject([{ kind: "unreadable" }]);
});

test("a database of a later version is a fault", async () => {
  const { cwd, file } = await dataFolder();
  using db = new Database(file);
  db.run("insert into schema_migration values (9999, '9999_later', 'x', 1)");
  expect((await check(cwd)).faults).toMatchObject([{ kind: "schema" }]);
});

test("vacuum gives free pages back and keeps every row; a second folder lock refuses it", async () => {
  const { cwd, file } = await dataFolder();
  {
    using db = new Database(file);
    db.run("create table filler (bytes blob)");
    db.run(
      "insert into filler select zeroblob(4000) from generate_series(1, 500)".replace(
        "generate_series(1, 500)",
        "(with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) select i from n)",
      ),
    );
    db.run("drop table filler");
  }
  const lock = lockDirectory(join(cwd, "svc-data"));
  const refused = await svc(["db", "vacuum", "--json"], { cwd });
  expect([refused.exitCode, JSON.parse(refused.stderr).error.code]).toEqual([7, "server_runs"]);
  lock?.release();
  const { exitCode, stdout } = await svc(["db", "vacuum", "--json"], { cwd });
  const { before_bytes, after_bytes } = JSON.parse(stdout);
  expect([exitCode, before_bytes - after_bytes > 1_500_000, statSync(file).size]).toEqual([
    0,
    true,
    after_bytes,
  ]);
  expect((await check(cwd)).ok).toBe(true);
  expect((await svc(["audit", "--field", "adds_up"], { cwd })).stdout).toBe("true\n");
  expect(readFileSync(file).includes("studio")).toBe(true);
});
