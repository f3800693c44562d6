import { Database } from "bun:sqlite";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { svcJson } from "./support/command.ts";
import { readDatabase } from "./support/database.ts";

setDefaultTimeout(120_000);

afterEach(stopServers);

const ROUNDS = 3;

/** What is stored of changes by hand, and what the trail says of them: the same, or one is there without the other. */
function changesOf(dataDir: string) {
  const ids = (sql: string) => readDatabase<{ id: string }>(dataDir, sql).map(({ id }) => id);
  const noted = (action: string) =>
    ids(`SELECT object AS id FROM trail_entry WHERE action = '${action}' ORDER BY object, id`);
  return {
    stored: {
      keys: ids("SELECT id FROM api_key ORDER BY id"),
      revoked: ids("SELECT id FROM api_key WHERE revoked_at IS NOT NULL ORDER BY id"),
      tokens: ids("SELECT id FROM management_token ORDER BY id"),
      credits: ids(
        "SELECT account_id AS id FROM ledger_entry WHERE actor LIKE 'tok_%' ORDER BY account_id, id",
      ),
    },
    noted: {
      keys: noted("key.create"),
      revoked: noted("key.revoke"),
      tokens: noted("token.create"),
      credits: noted("account.credit"),
    },
  };
}

test("kill -9 among changes leaves none without its entry in the trail, and no entry without its change", async () => {
  let server = await startServer();
  const { folder, port, dataDir } = server;
  const made = await svcJson(["tokens", "create", "--name", "busy", "--data-dir", dataDir]);
  const token = String((made as { token: string }).token);
  let answered = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const admin = createApi(server.url, token);
    let isOver = false;
    const change = async (worker: number): Promise<void> => {
      for (let i = 0; !isOver; i++) {
        const name = `r${round}w${worker}n${i}`;
        const sent = [
          admin.send("/admin/v1/keys", { body: { name } }),
          admin.send("/admin/v1/accounts/default/credit", { body: { amount: "0.01", reason: name } }),
          admin.send("/admin/v1/tokens", { body: { name, scopes: ["read"] } }),
        ];
        const answers = await Promise.all(sent).catch(() => []);
        answered += answers.filter(({ status }) => status === 200).length;
        if (answers.length > 0)
          await admin.send(`/admin/v1/keys/${name}/revoke`, { method: "POST" }).catch(() => {});
        // Once enough has been done, it is killed in the midst of more.
        if (answered > 30 * (round + 1) && !isOver) {
          isOver = true;
          server.signal("SIGKILL");
        }
      }
    };
    await Promise.all([0, 1, 2, 3].map(change));
    await server.exited;
    const { stored, noted } = changesOf(dataDir);
    expect(noted).toEqual(stored);
    expect(stored.keys.length).toBeGreaterThan(round);
    server = await startServer({ folder, port });
  }
  const after = changesOf(dataDir);
  expect(after.noted).toEqual(after.stored);
  const log = await svcJson(["audit", "log", "--actor", "busy", "--limit", "1", "--data-dir", dataDir]);
  expect(log).toMatchObject({ entries: [{ actor: { kind: "token", name: "busy" } }] });
  expect(await server.stop()).toBe(0);
});

test("the trail can be changed by nobody, and what writes it together with a change fails with it", async () => {
  const server = await startServer();
  expect(await server.stop()).toBe(0);
  using db = new Database(join(server.dataDir, "svc.db"), { readwrite: true });
  expect(db.query("SELECT action FROM trail_entry ORDER BY id").values()).toEqual([
    ["account.create"],
    ["key.create"],
  ]);
  expect(() => db.run("UPDATE trail_entry SET actor = 'nobody'")).toThrow("the trail is append-only");
  expect(() => db.run("DELETE FROM trail_entry")).toThrow("the trail is append-only");
  db.run("CREATE TRIGGER full BEFORE INSERT ON trail_entry BEGIN SELECT raise(abort, 'no more'); END");
  const failed = await svcJson(["keys", "create", "--name", "web", "--data-dir", server.dataDir]).catch(
    (error: unknown) => String(error),
  );
  expect(String(failed)).toContain("no more");
  expect(db.query("SELECT name FROM api_key").values()).toEqual([["default"]]);
});
