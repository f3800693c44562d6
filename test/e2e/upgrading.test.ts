import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { applyMigrations } from "../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../src/store/sqlite/migrations.ts";
import { emptyFolder, spawnServer, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const names = MIGRATIONS.map((migration) => migration.name);
const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };

const json = async (...args: string[]) => (await svcJson(args)) as Record<string, unknown>;

describe("a data folder of the version before", () => {
  test.concurrent.each([1, 2])(
    "that lacks the last %d migrations is brought up to date by a start",
    async (lacking) => {
      const dataDir = join(emptyFolder("before"), "svc-data");
      mkdirSync(dataDir, { mode: 0o700 });
      const db = new Database(join(dataDir, "svc.db"), { create: true });
      applyMigrations(db, MIGRATIONS.slice(0, -lacking));
      db.close();
      const status = () => json("migrate", "status", "--data-dir", dataDir);
      expect((await status()).pending).toEqual(names.slice(-lacking));
      const server = await startServer({ dataDir });
      expect(JSON.parse(await server.says(/"msg":"ready"/))).toMatchObject({ migrations: lacking });
      expect(await status()).toMatchObject({ applied: [], pending: [], current: names.length });
      const api = createApi(server.url, await keyOf(dataDir));
      expect((await api.make(IMAGE)).status).toBe("completed");
    },
  );
});

describe("a data folder of a later version", () => {
  test("is refused with a clear word and left as it is; the backup from before serves again", async () => {
    const server = await startServer();
    const { dataDir } = server;
    const key = server.firstKey();
    const made = await createApi(server.url, key).make(IMAGE);
    const backups = emptyFolder("backups");
    await json("db", "backup", backups, "--data-dir", dataDir);
    // Since the backup.
    await createApi(server.url, key).make(IMAGE);
    expect(await server.stop()).toBe(0);

    const db = new Database(join(dataDir, "svc.db"));
    db.run(
      "insert into schema_migration select max(number) + 1, 'later_things', 'x', 0 from schema_migration",
    );
    db.run("pragma wal_checkpoint(truncate)");
    db.close();
    const before = readFileSync(join(dataDir, "svc.db"));
    const refused = spawnServer({ dataDir });
    expect(await refused.exited).toBe(1);
    expect(refused.stderr()).toContain(
      `The database has migration later_things; this program knows none after ${names.at(-1)}. Use the newer version of the program, or restore a backup from before it.`,
    );
    expect(readFileSync(join(dataDir, "svc.db")).equals(before)).toBe(true);

    const restored = join(emptyFolder("restored"), "svc-data");
    await json("db", "restore", backups, "--data-dir", restored);
    const again = await startServer({ dataDir: restored });
    const api = createApi(again.url, key);
    expect((await api.wait(made.task_id)).status).toBe("completed");
    expect((await api.send("/v1/tasks")).body).not.toBeNull();
    expect((await json("audit", "--data-dir", restored)).adds_up).toBe(true);
  });
});

/** A folder that was there already has no first run, so its key is made here. */
async function keyOf(dataDir: string): Promise<string> {
  return String((await json("keys", "create", "--name", "upgraded", "--data-dir", dataDir)).key);
}
