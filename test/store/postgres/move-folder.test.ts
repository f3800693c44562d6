import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureDirectory, FolderMoved, lockDataDirectory } from "../../../src/app/data-folder.ts";
import { moveToFolder, moveToShared } from "../../../src/app/move-local.ts";
import type { Config } from "../../../src/config/config.ts";
import { moveToPostgres } from "../../../src/store/move/open.ts";
import { openStore } from "../../../src/store/open.ts";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import { createNodeStore } from "../../../src/store/postgres/node-store.ts";
import { openStore as openPostgresStore } from "../../../src/store/postgres/open.ts";
import { keepBooks } from "../../contracts/audit.ts";
import { askPostgres, emptyPostgres, stopPostgres } from "../../helpers/postgres.ts";
import { CAN_TEST_POSTGRES } from "../../helpers/postgres-database.ts";
import { accountId, addAccount, countingTokens } from "../../helpers/store.ts";

/** A data folder with tasks and money. */
async function folderWithBooks(): Promise<{ dataDir: string; remove: () => void }> {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-moved-"));
  ensureDirectory(dataDir);
  const store = openStore({ path: join(dataDir, "svc.db") });
  await keepBooks(store);
  await store.stop();
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true }) };
}

const failed = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

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
    // A node that did not look before hears of it.
    const connection = openConnection({ url, connections: 1 });
    const nodes = createNodeStore(connection);
    await nodes.beat({ id: "late", name: "late", role: "all", version: "1", isDraining: false });
    expect(await nodes.all()).toMatchObject({ movedTo: dataDir, nodes: [{ id: "late" }] });
    await connection.stop();
    const back = openStore({ path: join(dataDir, "svc.db") });
    expect(await back.accounts.account(accountId(77))).toBeDefined();
    const before = openStore({ path: join(dataDir, "svc.db.before-the-move") });
    expect(await before.accounts.account(accountId(77))).toBeUndefined();
    expect(await before.accounts.account(accountId(1))).toEqual(await back.accounts.account(accountId(1)));
    await Promise.all([back.stop(), before.stop()]);
    for (const folder of [other, made, dataDir]) rmSync(folder, { recursive: true });
  });

  test("a folder that cannot say that it was left is served as before, and the database is not", async () => {
    const { dataDir, remove } = await folderWithBooks();
    const url = await emptyPostgres();
    const config = { dataDir, assets: { path: join(dataDir, "assets") } } as Config;
    const how = { tell: () => {}, path: join(dataDir, "assets") };
    mkdirSync(join(dataDir, "moved.json.part"));
    expect(await failed(moveToShared(config, url, how))).toMatchObject({ code: "EISDIR" });
    expect(await failed(openPostgresStore({ url, ids: countingTokens() }))).toMatchObject({
      kind: "unfinished",
    });
    lockDataDirectory({ dataDir })();
    rmSync(join(dataDir, "moved.json.part"), { recursive: true });
    await moveToShared(config, url, how);
    await (await openPostgresStore({ url, ids: countingTokens() })).stop();
    remove();
  });

  test("a move that is cut off between the folder and the database lets neither be served, and goes on when it is repeated", async () => {
    const { dataDir, remove } = await folderWithBooks();
    const url = await emptyPostgres();
    const config = { dataDir, assets: { path: join(dataDir, "assets") } } as Config;
    const how = { tell: () => {}, path: join(dataDir, "assets") };
    await askPostgres(
      `create function cut() returns trigger language plpgsql as $$ begin raise exception 'cut off'; end $$;
       create trigger cut before update on move_progress for each row when (new.name = '' and new.is_done = 1)
         execute function cut()`,
    );
    expect(await failed(moveToShared(config, url, how))).toBeInstanceOf(Error);
    await askPostgres("drop function cut cascade");
    expect(await failed(openPostgresStore({ url, ids: countingTokens() }))).toMatchObject({
      kind: "unfinished",
    });
    const locked = () => lockDataDirectory({ dataDir });
    expect(locked).toThrow("was cut off at its end. Repeat it: svc db move --to URL");
    const elsewhere = new URL(url);
    elsewhere.pathname = "/elsewhere";
    expect(await failed(moveToShared(config, elsewhere.href, how))).toBeInstanceOf(FolderMoved);
    // Its rows are nowhere else as long as the database says so.
    expect(await failed(moveToFolder(url, dataDir, how))).toMatchObject({ kind: "unfinished" });
    expect(existsSync(join(dataDir, "svc.db"))).toBe(true);
    await moveToShared(config, url, how);
    await (await openPostgresStore({ url, ids: countingTokens() })).stop();
    expect(locked).toThrow("Name it with --database, or move it back");
    expect(await failed(moveToShared(config, url, how))).toBeInstanceOf(FolderMoved);
    remove();
  });

  test("what was changed since a move was cut off is not lost: the move does not end", async () => {
    const { dataDir, remove } = await folderWithBooks();
    const url = await emptyPostgres();
    const from = join(dataDir, "svc.db");
    const tell = ({ table }: { table: string }) => {
      if (table === "usage_day") throw new Error("cut off");
    };
    expect(await failed(moveToPostgres({ from, to: url, tell }))).toMatchObject({ message: "cut off" });
    using db = new Database(from);
    db.run("update account set status = 'suspended'");
    const config = { dataDir, assets: { path: join(dataDir, "assets") } } as Config;
    const how = { tell: () => {}, path: join(dataDir, "assets") };
    const told = { kind: "differs", message: expect.stringContaining("The table account has other rows") };
    expect(await failed(moveToShared(config, url, how))).toMatchObject(told);
    expect(await failed(openPostgresStore({ url, ids: countingTokens() }))).toMatchObject({
      kind: "unfinished",
    });
    lockDataDirectory({ dataDir })();
    await moveToShared(config, await emptyPostgres(), how);
    expect(await askPostgres("select distinct status from account")).toEqual([{ status: "suspended" }]);
    remove();
  });
});
