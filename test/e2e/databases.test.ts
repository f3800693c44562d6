import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { KEYS } from "../helpers/fake-s3.ts";
import {
  cleanEnvironment,
  emptyFolder,
  type Server,
  SVC,
  spawnServer,
  stopServers,
} from "../helpers/server.ts";
import { type DatabasePair, startPair } from "../moving/database-pair.ts";
import { type DatabaseServer, HAS_POSTGRES, onceOn, startPostgres } from "../moving/database-servers.ts";
import { createApi } from "./support/api.ts";
import { usePostgresAndBucket } from "./support/postgres-and-bucket.ts";
import { openReceiver } from "./support/receivers.ts";
import { ALLOW_LOOPBACK } from "./support/slow-source.ts";

setDefaultTimeout(120_000);

const PICTURE = { model: "sandbox-image", prompt: "a lighthouse", size: "16x16", sandbox: { delay_ms: 0 } };

const environment = (url: string, more: Record<string, string> = {}) => ({
  ...{ SVC_DATABASE: url, SVC_SECRET_KEY: "k".repeat(43), SVC_ASSETS_PATH: emptyFolder("assets"), ...more },
});

/** A node that takes requests. */
async function node(url: string, more: Record<string, string> = {}): Promise<Server> {
  const started = spawnServer({ args: ALLOW_LOOPBACK, env: environment(url, more) });
  await started.ready();
  return started;
}

async function run(url: string, ...args: string[]) {
  const child = Bun.spawn([SVC, ...args], {
    env: cleanEnvironment({ SVC_DATABASE: url }),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, text: stdout + stderr };
}

describe.skipIf(!HAS_POSTGRES)("a node of a PostgreSQL database", () => {
  let folder: string;
  let postgres: DatabaseServer;
  beforeAll(async () => {
    folder = mkdtempSync("/tmp/svc-databases-");
    postgres = await startPostgres(folder);
  });
  afterAll(async () => {
    await stopServers();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("works by node-postgres, too: takes tasks, makes them, tells of them, and its books add up", async () => {
    const url = await postgres.newDatabase();
    const served = await node(url, { SVC_DATABASE_DRIVER: "pg" });
    const api = createApi(served.url, served.firstKey());
    const receiver = openReceiver();
    const task = await api.make({ ...PICTURE, callback_url: receiver.url });
    await receiver.received(1);
    expect(receiver.posts[0]?.body).toMatchObject({ task_id: task.task_id, status: "completed" });
    await receiver.stop();
    expect(await served.stop()).toBe(0);
    expect(await run(`${url}?client=pg`, "audit", "--local")).toMatchObject({ exitCode: 0 });
  });

  /** What a node says that ends at its start, and a command after it. */
  async function refusal(url: string): Promise<string> {
    const refused = spawnServer({ env: environment(url) });
    expect(await refused.exited).toBe(1);
    const { exitCode, text } = await run(url, "keys", "create", "--name", "late");
    expect(exitCode).toBe(1);
    const said = [refused.stdout(), refused.stderr(), text].join("");
    expect(said).not.toContain("CANARY");
    return said;
  }

  const UNFIT = [
    [
      "a newer version's",
      "insert into schema_migration values (9999, 'made later', 'x', 1)",
      "has migration made later",
    ],
    ["read-only", "alter database NAME set default_transaction_read_only = on", "The database is read-only"],
    [
      "without the right to write a table",
      "revoke insert on task from half",
      'lacks rights on "task": insert',
    ],
  ] as const;
  for (const [what, statement, words] of UNFIT)
    test(`is refused for a database that is ${what}, in words and without a password`, async () => {
      const made = new URL(await postgres.newDatabase());
      expect(await run(made.href, "migrate")).toMatchObject({ exitCode: 0 });
      await onceOn(
        made.href,
        "drop role if exists half",
        "create role half login password 'CANARY-half'",
        "grant select, insert, update, delete on all tables in schema public to half",
        "grant usage, select on all sequences in schema public to half",
        statement.replace("NAME", made.pathname.slice(1)),
      );
      const user = new URL(made);
      [user.username, user.password] = ["half", "CANARY-half"];
      expect(await refusal(user.href)).toContain(words);
      await onceOn(
        made.href,
        "set default_transaction_read_only = off",
        "drop owned by half",
        "drop role half",
      );
    });

  const FOREIGN = [
    ["of another application", "create table task (id int)", 'has a table "task"'],
    ["in another encoding", "select 1", "The database's encoding is SQL_ASCII"],
  ] as const;
  for (const [what, statement, words] of FOREIGN)
    test(`is refused for a database that is ${what}, in words and without a password`, async () => {
      const made = new URL(await postgres.newDatabase());
      if (what === "in another encoding") {
        await onceOn(
          made.href,
          "create database ascii encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0",
        );
        made.pathname = "/ascii";
      }
      await onceOn(made.href, statement);
      expect(await refusal(made.href)).toContain(words);
    });

  test("shows the password of its database nowhere: in no log, no setting, no command and no list of processes", async () => {
    const url = await postgres.newDatabase();
    const served = await node(url, { SVC_LOG_LEVEL: "debug", SVC_METRICS_PUBLIC: "true" });
    expect((await createApi(served.url, served.firstKey()).make(PICTURE)).status).toBe("completed");
    const shown = [await (await fetch(`${served.url}/metrics`)).text()];
    for (const command of ["config show", "config show --json", "doctor --local", "nodes list --local"]) {
      const { text } = await run(url, ...command.split(" "));
      expect(text).not.toBe("");
      shown.push(text);
    }
    if (process.platform === "linux") {
      shown.push(
        readFileSync(`/proc/${served.pid}/cmdline`, "utf8"),
        readFileSync(`/proc/${served.pid}/comm`, "utf8"),
      );
    }
    await served.stop();
    for (const text of [...shown, served.stdout(), served.stderr()]) expect(text).not.toContain("CANARY");
    expect(shown[1]).toContain("database");
  });

  test("that is set read-only while it runs refuses creates, says why, and goes on when it may write again", async () => {
    const made = await postgres.newDatabase();
    const name = new URL(made).pathname.slice(1);
    const served = await node(made);
    const api = createApi(served.url, served.firstKey());
    expect((await api.make(PICTURE)).status).toBe("completed");
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`;
    const readOnly = (is: string) =>
      onceOn(
        `${made.replace(/[^/]+$/, "postgres")}`,
        `alter database ${name} set default_transaction_read_only = ${is}`,
        cut,
      );
    await readOnly("on");
    const refused = await api.create(PICTURE, { "Idempotency-Key": "once" });
    expect([refused.status, refused.data.error_code]).toEqual([503, "idempotency_unavailable"]);
    await readOnly("off");
    let taken = await api.create(PICTURE, { "Idempotency-Key": "once" });
    while (taken.status === 503) taken = await api.create(PICTURE, { "Idempotency-Key": "once" });
    expect((await api.wait(taken.data.task_id ?? "")).status).toBe("completed");
    expect(served.stderr() + served.stdout()).not.toContain("CANARY");
    expect(await served.stop()).toBe(0);
    expect(await run(made, "audit", "--local")).toMatchObject({ exitCode: 0 });
  });

  test("keeps what an upstream makes while the database is away for longer than leases, whatever other nodes do", async () => {
    const upstream = await openHeldUpstream();
    const url = await postgres.newDatabase();
    const settings = {
      ...{ SVC_SCHEDULER_LEASE_SECONDS: "5", SVC_ASSETS_PATH: emptyFolder("assets"), SVC_SANDBOX: "off" },
      ...{ OPENAI_API_KEY: upstream.key, OPENAI_BASE_URL: upstream.url },
    };
    const served = await node(url, settings);
    const api = createApi(served.url, served.firstKey());
    const other = spawnServer({ env: environment(url, settings) });
    await other.says(/"msg":"ready"/);
    const { data } = await api.create({ model: "gpt-image-2", prompt: "a lighthouse", quality: "low" });
    await upstream.came;
    await postgres.restart(11_000);
    await Promise.all([served.says(/can be written again/), other.says(/can be written again/)]);
    upstream.release();
    expect((await api.wait(data.task_id ?? "")).status).toBe("completed");
    expect(upstream.calls()).toBe(1);
    await upstream.stop();
  });
});

/** An OpenAI whose answers wait until they are released. */
async function openHeldUpstream() {
  const drawing = spawnServer({ args: ["--alias", "gpt-image-2=sandbox-image"] });
  await drawing.ready();
  const [came, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  const held = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0 },
    async fetch(request) {
      calls++;
      const { method, headers } = request;
      const body = await request.arrayBuffer();
      came.resolve();
      await released.promise;
      return fetch(drawing.url + new URL(request.url).pathname, { method, headers, body });
    },
  });
  return {
    ...{ url: `${held.url.origin}/compat/v1`, key: drawing.firstKey(), came: came.promise },
    ...{ calls: () => calls, release: released.resolve, stop: () => held.stop(true) },
  };
}

describe.skipIf(!HAS_POSTGRES)("a node whose database has a standby", () => {
  let folder: string;
  let pair: DatabasePair;
  beforeAll(async () => {
    folder = mkdtempSync("/tmp/svc-standby-");
    pair = await startPair(folder);
  });
  afterAll(async () => {
    await stopServers();
    await pair.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("is refused where it names the standby, and goes on when that takes over", async () => {
    const served = await node(pair.url);
    const api = createApi(served.url, served.firstKey());
    const { task_id } = await api.make(PICTURE);
    const refused = spawnServer({ env: environment(pair.standbyUrl()) });
    expect(await refused.exited).toBe(1);
    expect(refused.stderr()).toContain(
      "The database is a standby, which cannot be written. Name the primary",
    );
    expect(refused.stderr()).not.toContain("CANARY");
    await pair.failOver();
    let taken = await api.create(PICTURE, { "Idempotency-Key": "after" });
    while (taken.status === 503) taken = await api.create(PICTURE, { "Idempotency-Key": "after" });
    for (const id of [task_id, taken.data.task_id ?? ""])
      expect((await api.wait(id)).status).toBe("completed");
    expect(await served.stop()).toBe(0);
    expect(await run(pair.url, "audit", "--local")).toMatchObject({ exitCode: 0 });
  });
});

describe.skipIf(!HAS_POSTGRES)("a bucket", () => {
  const given = usePostgresAndBucket();

  test("of one database is refused to another one, and both are named", async () => {
    const inBucket = {
      ...{ SVC_ASSETS_STORE: "s3", SVC_ASSETS_BUCKET: "media", SVC_ASSETS_PREFIX: "svc" },
      ...{ SVC_ASSETS_ENDPOINT: given.s3.endpoint, SVC_ASSETS_REGION: given.s3.region },
      ...{ AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey },
    };
    const [first, other] = [await given.postgres.newDatabase(), await given.postgres.newDatabase()];
    const served = await node(first, inBucket);
    const api = createApi(served.url, served.firstKey());
    expect((await api.make(PICTURE)).status).toBe("completed");
    const refused = spawnServer({ env: environment(other, inBucket) });
    expect(await refused.exited).toBe(1);
    const { pathname, host } = new URL(first);
    expect(refused.stderr()).toContain(
      `belongs to the database ${pathname.slice(1)} of the host ${host}, since`,
    );
    expect(refused.stderr()).toContain("a prefix of its own (assets.prefix).");
    expect(refused.stderr()).not.toContain("CANARY");
    // Another node of the first database has the bucket, too.
    const second = spawnServer({ env: environment(first, inBucket) });
    await second.says(/"msg":"ready"/);
  });
});
