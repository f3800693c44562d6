import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../src/app/app.ts";
import { readConfig } from "../../src/app/settings.ts";
import { applyMigrations } from "../../src/store/sqlite/migrate.ts";
import { MIGRATIONS } from "../../src/store/sqlite/migrations.ts";

test("each migration is told of before it holds up the event loop, with all that was said before", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-upgrade-"));
  const dataDir = join(folder, "svc-data");
  mkdirSync(dataDir, { mode: 0o700 });
  using older = new Database(join(dataDir, "svc.db"));
  applyMigrations(older, MIGRATIONS.slice(0, -1));
  older.close();
  const calls: string[] = [];
  const note = (_fields: unknown, line: string) => void calls.push(line);
  const log = { debug: note, info: note, warn: note, error: note, flush: () => void calls.push("flush") };
  const config = readConfig({ flags: { dataDir, port: "0" }, env: {}, cwd: folder });
  const app = createApp(config, { log });
  try {
    await app.start();
    const told = calls.indexOf("bringing the database up to date");
    expect(calls[told + 1]).toBe("flush");
    expect(calls.indexOf("ready")).toBeGreaterThan(told);
  } finally {
    await app.stop();
    rmSync(folder, { recursive: true });
  }
});
