import { expect, test } from "bun:test";
import { temporaryDatabase } from "../../helpers/store.ts";

const MIB = 2 ** 20;

/** Runs a program with a large database, and measures by how much its memory grew at most. */
async function growthOf(make: string, run: string): Promise<number> {
  const file = temporaryDatabase();
  const program = `
    import { openDatabase } from "./src/store/sqlite/connection.ts";
    import { applyMigrations } from "./src/store/sqlite/migrate.ts";
    import { sealSecrets } from "./src/store/sqlite/account-store/sealed-secrets.ts";
    import { createSeal } from "./src/runtime/seal.ts";
    const db = openDatabase(${JSON.stringify(file.path)});
    const rows = (count) => "with recursive n (value) as (select 1 union all select value + 1 from n where value < " + count + ")";
    ${make}
    const before = process.resourceUsage().maxRSS;
    ${run}
    console.log((process.resourceUsage().maxRSS - before) * 1024);`;
  try {
    const child = Bun.spawn([process.execPath, "-e", program], {
      ...({ stdout: "pipe", stderr: "inherit" } as const),
      cwd: `${import.meta.dir}/../../..`,
    });
    return Number(await child.stdout.text());
  } finally {
    file.remove();
  }
}

test("a database with secrets in the clear is rewritten without being held in memory", async () => {
  const made = `
    applyMigrations(db);
    db.run("insert into account (id, name, mode, status, balance_micros, held_micros, created_at) values ('acc_1', 'a', 'unlimited', 'active', 0, 0, 0)");
    db.run("insert into api_key (id, account_id, name, hash, display, created_at, callback_secret) values ('key_1', 'acc_1', 'k', 'h', 'd', 0, 'in the clear')");
    db.run(rows(64) + " insert into label (text) select hex(randomblob(524288)) from n");
    db.run("pragma wal_checkpoint(truncate)");`;
  const seal = `
    const seal = createSeal({ key: "a passphrase that is long enough", file: "/nowhere" });
    if (sealSecrets(db, seal).sealed !== 1) throw new Error("Nothing was sealed.");`;
  expect(await growthOf(made, seal)).toBeLessThan(40 * MIB);
});

test("a migration sorts a large index without holding it in memory", async () => {
  const made = `
    const made = { number: 1, name: "0001_made", sql: "create table a (id integer primary key, text text not null) strict;" };
    applyMigrations(db, [made]);
    db.run(rows(16_000) + " insert into a (text) select hex(randomblob(2000)) from n");
    db.run("pragma wal_checkpoint(truncate)");`;
  const indexed = `
    applyMigrations(db, [made, { number: 2, name: "0002_indexed", sql: "create index i on a (text);" }]);`;
  expect(await growthOf(made, indexed)).toBeLessThan(40 * MIB);
});
