import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDirectory } from "../../../src/app/data-folder.ts";
import { moveToFolder, moveToShared } from "../../../src/app/move-local.ts";
import type { Config } from "../../../src/config/config.ts";
import { openStore } from "../../../src/store/open.ts";
import { openStore as openPostgresStore } from "../../../src/store/postgres/open.ts";
import { keepBooks } from "../../contracts/audit.ts";
import { CAN_TEST_POSTGRES, emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { accountId, addAccount, countingTokens } from "../../helpers/store.ts";

describe.skipIf(!CAN_TEST_POSTGRES)("moving a data folder to PostgreSQL and back", () => {
  afterAll(stopPostgres);

  test("the log of a server that was killed stays with the database that it belongs to", async () => {
    const made = mkdtempSync(join(tmpdir(), "svc-made-"));
    const dataDir = mkdtempSync(join(tmpdir(), "svc-moved-"));
    ensureDirectory(dataDir);
    const store = openStore({ path: join(made, "svc.db") });
    await keepBooks(store);
    // As a kill leaves them.
    for (const name of ["svc.db", "svc.db-wal"]) copyFileSync(join(made, name), join(dataDir, name));
    await store.stop();
    const config = { dataDir, assets: { path: join(dataDir, "assets") } } as Config;
    const how = { tell: () => {}, path: join(dataDir, "assets") };
    const url = await emptyPostgres();
    await moveToShared(config, url, how);
    const shared = await openPostgresStore({ url, ids: countingTokens() });
    await addAccount(shared, { id: accountId(77) });
    await shared.stop();
    // A log whose database is gone is not taken up either.
    const other = mkdtempSync(join(tmpdir(), "svc-moved-"));
    writeFileSync(join(other, "svc.db-wal"), "a log");
    const refused = await moveToFolder(url, other, how).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: "not_empty", message: expect.stringContaining("svc.db-wal") });
    await moveToFolder(url, dataDir, how);
    expect(existsSync(join(dataDir, "svc.db-wal"))).toBe(false);
    const back = openStore({ path: join(dataDir, "svc.db") });
    expect(await back.accounts.account(accountId(77))).toBeDefined();
    const before = openStore({ path: join(dataDir, "svc.db.before-the-move") });
    expect(await before.accounts.account(accountId(77))).toBeUndefined();
    expect(await before.accounts.account(accountId(1))).toEqual(await back.accounts.account(accountId(1)));
    await Promise.all([back.stop(), before.stop()]);
    for (const folder of [other, made, dataDir]) rmSync(folder, { recursive: true });
  });
});
