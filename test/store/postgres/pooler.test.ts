import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { openConnection } from "../../../src/store/postgres/connection.ts";
import { openStore } from "../../../src/store/postgres/open.ts";
import { freePort } from "../../helpers/free-port.ts";
import { countingTokens } from "../../helpers/store.ts";
import { type DatabaseServer, HAS_POSTGRES, onceOn, startPostgres } from "../../moving/database-servers.ts";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const CLIENTS = ["bun", "pg"] as const;
const IGNORING = "ignore_startup_parameters = idle_in_transaction_session_timeout,jit,options";

interface Pooler {
  /** Of the database behind it, as `user`. */
  url(client: string): string;
  stop(): Promise<void>;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/** PgBouncer before a database, in a folder of its own. */
async function startPooler(folder: string, to: string, settings: readonly string[]): Promise<Pooler> {
  const port = freePort();
  const place = join(folder, `pooler-${port}`);
  mkdirSync(place);
  const { port: server, username, password, pathname } = new URL(to);
  const name = pathname.slice(1);
  const target = `host=127.0.0.1 port=${server} dbname=${name} user=${username} password=${password}`;
  const file = join(place, "pgbouncer.ini");
  const own = ["listen_addr = 127.0.0.1", `listen_port = ${port}`, "auth_type = any", "unix_socket_dir ="];
  writeFileSync(file, ["[databases]", `${name} = ${target}`, "[pgbouncer]", ...own, ...settings].join("\n"));
  if (isRoot) for (const path of [place, file]) chownSync(path, NOBODY, NOBODY);
  const as = isRoot ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const child = Bun.spawn([...as, "pgbouncer", "-q", file], {
    cwd: place,
    stdout: "ignore",
    stderr: "ignore",
  });
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error("PgBouncer ended.");
    await Bun.sleep(20);
  }
  return {
    url: (client) => `postgres://svc@127.0.0.1:${port}/${name}?client=${client}`,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

describe.skipIf(!HAS_POSTGRES || Bun.which("pgbouncer") === null)("PgBouncer before a database", () => {
  let folder: string;
  let server: DatabaseServer;
  /** The user `pooled` has the settings that PgBouncer passes over. */
  let url: string;
  beforeAll(async () => {
    folder = mkdtempSync("/tmp/svc-pooler-");
    server = await startPostgres(folder);
    const made = new URL(await server.newDatabase());
    await onceOn(
      made.href,
      "create role pooled login superuser password 'pooled'",
      "alter role pooled set idle_in_transaction_session_timeout = '5s'",
      "alter role pooled set jit = off",
    );
    [made.username, made.password] = ["pooled", "pooled"];
    url = made.href;
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function withPooler(settings: readonly string[], body: (pooler: Pooler) => Promise<void>) {
    const pooler = await startPooler(folder, url, settings);
    try {
      await body(pooler);
    } finally {
      await pooler.stop();
    }
  }

  const open = (address: string) => openStore({ url: address, ids: countingTokens(), connections: 2 });

  for (const client of CLIENTS) {
    test(`${client}: is refused where it does not pass on what connections are set to, with what helps`, () =>
      withPooler(["pool_mode = transaction"], async (pooler) => {
        await expect(open(pooler.url(client))).rejects.toThrow(IGNORING);
      }));

    test(`${client}: is refused where it gives one connection to several`, () =>
      withPooler(["pool_mode = transaction", IGNORING], async (pooler) => {
        await expect(open(pooler.url(client))).rejects.toThrow("Use its session mode");
      }));

    test(`${client}: serves in its session mode, notifications and all`, () =>
      withPooler(["pool_mode = session", IGNORING], async (pooler) => {
        const store = await open(pooler.url(client));
        const heard = Promise.withResolvers<string>();
        const connection = openConnection({ url: pooler.url(client), connections: 1 });
        await connection.driver.listen("test", heard.resolve, () => {});
        await connection.driver.ask("select pg_notify('test', 'said') is null as told", []);
        expect(await heard.promise).toBe("said");
        await connection.stop();
        await store.stop();
      }));
  }
});
