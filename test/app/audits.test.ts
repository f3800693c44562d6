import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAudits } from "../../src/app/audits.ts";
import { migrateLocal } from "../../src/app/migrate-local.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function database(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-audits-"));
  folders.push(folder);
  migrateLocal({ dataDir: folder }, "up");
  return join(folder, "svc.db");
}

test("two who ask at once get one report, and the next one another", async () => {
  const audits = createAudits({ path: database() });
  const [first, second] = await Promise.all([audits.run(), audits.run()]);
  expect(first.differences).toEqual([]);
  expect(second).toBe(first);
  expect(await audits.run()).not.toBe(first);
});

test("a database that cannot be read is a failure, after which the next check runs", async () => {
  const path = join(tmpdir(), "svc-audits-none", "svc.db");
  const audits = createAudits({ path });
  await expect(audits.run()).rejects.toThrow();
  await expect(audits.run()).rejects.toThrow();
});

test("a stop ends a check that runs, and whoever waits is told", async () => {
  const audits = createAudits({ path: database() });
  const report = audits.run();
  audits.stop();
  await expect(report).rejects.toMatchObject({ code: "service_unavailable" });
});

test("checks hold up nothing in this thread", async () => {
  const audits = createAudits({ path: database() });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await audits.run();
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});
