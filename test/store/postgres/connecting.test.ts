import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import { openStore } from "../../../src/store/postgres/open.ts";
import { countingTokens } from "../../helpers/store.ts";
import { type DatabaseServer, HAS_POSTGRES, onceOn, startPostgres } from "../../moving/database-servers.ts";

const PASSWORD = "CANARY-password";
const CLIENTS = ["bun", "pg"] as const;

/** Certificates of a server that is called `localhost`, and of somebody who signed nothing. */
const MAKE_CERTIFICATES = `
openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=ca -days 2 -addext basicConstraints=critical,CA:TRUE
openssl req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.crt -subj /CN=other -days 2
openssl req -newkey rsa:2048 -nodes -keyout data/server.key -out server.csr -subj /CN=localhost
printf 'subjectAltName=DNS:localhost' > names
openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out data/server.crt -days 2 -extfile names
chmod 600 data/server.key`;

describe.skipIf(!HAS_POSTGRES || Bun.which("openssl") === null)("a server that is connected to", () => {
  let folder: string;
  let server: DatabaseServer;
  let url: string;
  beforeAll(async () => {
    folder = mkdtempSync("/tmp/svc-connecting-");
    server = await startPostgres(folder);
    url = await server.newDatabase();
    const { exitCode, stderr } = Bun.spawnSync(["sh", "-ec", MAKE_CERTIFICATES], { cwd: folder });
    if (exitCode !== 0) throw new Error(stderr.toString());
    if (process.getuid?.() === 0)
      for (const name of ["server.key", "server.crt"]) chownSync(join(folder, "data", name), 65_534, 65_534);
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The address of the same database with something else. */
  function at(change: {
    host?: string;
    user?: string;
    password?: string;
    database?: string;
    query?: string;
  }): string {
    const other = new URL(url);
    other.hostname = change.host ?? other.hostname;
    other.username = change.user ?? other.username;
    other.password = change.password ?? other.password;
    if (change.database !== undefined) other.pathname = `/${change.database}`;
    return `${other.href}?${change.query ?? ""}`.replaceAll("FOLDER", folder);
  }

  async function isSecure(address: string): Promise<unknown> {
    const connection = openConnection({ url: address, connections: 1 });
    try {
      const text = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
      return await connection.opening(async () => (await connection.driver.ask(text, [])).rows[0]?.ssl);
    } finally {
      await connection.stop();
    }
  }

  for (const client of CLIENTS) {
    const query = (of: string) => `client=${client}&${of}`;

    test(`${client}: one without TLS is used without where that is preferred, and refused where it is required`, async () => {
      expect(await isSecure(at({ query: query("") }))).toBe(false);
      await expect(isSecure(at({ query: query("sslmode=require") }))).rejects.toThrow("does not speak TLS");
    });
  }

  describe("with TLS", () => {
    beforeAll(async () => {
      await onceOn(url, "alter system set ssl = on", "select pg_reload_conf()");
      // The server takes up what is set a little later.
      while ((await isSecure(at({ query: "" }))) !== true) await Bun.sleep(20);
    });

    for (const client of CLIENTS) {
      const MODES = [
        ["127.0.0.1", "sslmode=disable", false],
        ["127.0.0.1", "sslmode=prefer", true],
        ["127.0.0.1", "sslmode=require", true],
        ["127.0.0.1", "sslmode=verify-ca&sslrootcert=FOLDER/ca.crt", true],
        ["localhost", "sslmode=verify-full&sslrootcert=FOLDER/ca.crt", true],
        ["127.0.0.1", "sslmode=verify-full&sslrootcert=FOLDER/ca.crt", "is of another host"],
        ["127.0.0.1", "sslmode=verify-ca&sslrootcert=FOLDER/other.crt", "comes from nobody known"],
        ["127.0.0.1", "sslmode=require&sslrootcert=FOLDER/other.crt", "comes from nobody known"],
        ["localhost", "sslmode=verify-full", "comes from nobody known"],
      ] as const;
      for (const [host, mode, result] of MODES)
        test(`${client}: ${mode} at ${host}: ${result}`, async () => {
          const asked = isSecure(at({ host, query: `client=${client}&${mode}` }));
          if (typeof result === "boolean") expect(await asked).toBe(result);
          else await expect(asked).rejects.toThrow(result);
        });
    }
  });

  for (const client of CLIENTS) {
    const query = `client=${client}`;
    /** What is said where a database is opened to be served. */
    async function refusalOf(address: string): Promise<string> {
      const opened = openStore({ url: address, ids: countingTokens(), connections: 2 });
      const said = await opened.then(
        (store) => store.stop().then(() => "It was opened."),
        (error: Error) => error.message,
      );
      expect(said).not.toContain(PASSWORD);
      return said;
    }
    const tables = async (address: string) => {
      const connection = openConnection({ url: address, connections: 1 });
      const { rows } = await connection.driver.ask(
        "select relname from pg_class where relnamespace = 'public'::regnamespace",
        [],
      );
      await connection.stop();
      return rows.map(({ relname }) => relname);
    };

    test(`${client}: a password that is wrong, and a database that is not there, are told with what to do`, async () => {
      expect(await refusalOf(at({ password: "wrong", query }))).toContain(
        'refuses the password of user "admin"',
      );
      const without = new URL(at({ query }));
      without.password = "";
      expect(await refusalOf(without.href)).toContain("cannot be used: ");
      expect(await refusalOf(at({ database: "absent", query }))).toContain(
        "it has no such database. Make it: create database",
      );
      expect(await refusalOf(`postgres://svc:${PASSWORD}@127.0.0.1:1/svc?${query}`)).toContain(
        'The database "svc" at 127.0.0.1:1 cannot be used: it is not reached',
      );
    });

    test(`${client}: a user without rights is told who should own the database, and changes nothing`, async () => {
      const own = await server.newDatabase();
      await onceOn(
        own,
        `drop role if exists weak`,
        "create role weak login password 'weak'",
        "revoke create on schema public from public",
      );
      const address = at({ user: "weak", password: "weak", database: new URL(own).pathname.slice(1), query });
      expect(await refusalOf(address)).toContain(
        'user "weak" lacks rights. Make it the owner: alter database',
      );
      expect(await tables(`${own}?${query}`)).toEqual([]);
    });

    test(`${client}: tables of something else are left alone`, async () => {
      const own = await server.newDatabase();
      await onceOn(own, "create table theirs (a int)");
      expect(await refusalOf(`${own}?${query}`)).toContain('has a table "theirs"');
      expect(await tables(`${own}?${query}`)).toEqual(["theirs"]);
    });

    test(`${client}: tables of a newer version are left alone`, async () => {
      const own = await server.newDatabase();
      expect(await refusalOf(`${own}?${query}`)).toBe("It was opened.");
      await onceOn(own, "insert into schema_migration values (9999, 'made later', 'x', 1)");
      expect(await refusalOf(`${own}?${query}`)).toContain("The database has migration made later");
    });

    for (const encoding of ["LATIN1", "SQL_ASCII"])
      test(`${client}: the encoding ${encoding} is refused, with the statement that makes a right one`, async () => {
        const name = `${encoding}_${client}`.toLowerCase();
        await onceOn(
          url,
          `create database ${name} encoding '${encoding}' lc_collate 'C' lc_ctype 'C' template template0`,
        );
        expect(await refusalOf(at({ database: name, query }))).toContain(
          `The database's encoding is ${encoding}. Make one for svc:`,
        );
      });

    test(`${client}: a database that is set read-only is refused at its opening, with tables and without`, async () => {
      const own = await server.newDatabase();
      const readOnly = (is: "on" | "off") =>
        onceOn(
          own,
          `alter database ${new URL(own).pathname.slice(1)} set default_transaction_read_only = ${is}`,
        );
      await readOnly("on");
      expect(await refusalOf(`${own}?${query}`)).toContain("The database is read-only: default_transaction");
      await onceOn(
        at({ database: "postgres", query: "" }),
        `alter database ${new URL(own).pathname.slice(1)} reset all`,
      );
      expect(await refusalOf(`${own}?${query}`)).toBe("It was opened.");
      await readOnly("on");
      expect(await refusalOf(`${own}?${query}`)).toContain("The database is read-only: default_transaction");
    });

    const OTHERS = [
      ["a table of a name of ours", "task", "create table task (id int)"],
      ["a view", "account", "create view account as select 1 as id"],
      ["a log of migrations of its own", "schema_migration", "create table schema_migration (version text)"],
      [
        "a foreign table",
        "afar",
        "create extension file_fdw; create server files foreign data wrapper file_fdw; create foreign table afar (a text) server files options (filename '/dev/null')",
      ],
    ] as const;
    for (const [what, name, statement] of OTHERS)
      test(`${client}: ${what} of another application is left alone`, async () => {
        const own = await server.newDatabase();
        await onceOn(own, ...statement.split("; "));
        const before = await tables(own);
        expect(await refusalOf(`${own}?${query}`)).toContain(
          `The database has a table "${name}" and none of`,
        );
        expect(await tables(own)).toEqual(before);
      });

    test(`${client}: what an extension has made is no other application`, async () => {
      const own = await server.newDatabase();
      await onceOn(own, "create extension pg_stat_statements");
      expect(await refusalOf(`${own}?${query}`)).toBe("It was opened.");
    });

    test(`${client}: a user who may not write one of the tables is told which, and how to grant it`, async () => {
      const own = await server.newDatabase();
      expect(await refusalOf(`${own}?${query}`)).toBe("It was opened.");
      await onceOn(
        own,
        "drop role if exists half",
        "create role half login password 'half'",
        "grant select, insert, update, delete on all tables in schema public to half",
        "grant usage, select on all sequences in schema public to half",
      );
      const address = at({ user: "half", password: "half", database: new URL(own).pathname.slice(1), query });
      expect(await refusalOf(address)).toBe("It was opened.");
      await onceOn(
        own,
        "revoke update, delete on ledger_entry from half",
        "revoke all on task_change_number from half",
      );
      expect(await refusalOf(address)).toContain(
        'The database\'s user lacks rights on "ledger_entry": update, delete, and some on 1 more. Make it the owner',
      );
      await onceOn(own, "drop owned by half", "drop role half");
    });
  }
});
