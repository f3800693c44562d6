import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseCredential } from "../../src/domain/access/credential.ts";
import { isId } from "../../src/domain/ids.ts";
import { emptyFolder, svc } from "./support.ts";

/** A folder with an empty data folder in it, in its default place. */
async function dataFolder(): Promise<string> {
  const cwd = emptyFolder();
  expect((await svc(["migrate"], { cwd })).exitCode).toBe(0);
  return cwd;
}

async function json(cwd: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = await svc([...args, "--json"], { cwd });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout);
}

describe("keys", () => {
  test("are created, listed, shown and revoked on a data folder", async () => {
    const cwd = await dataFolder();
    const created = await json(cwd, "keys", "create", "--name", "web");
    expect(isId("key", created.id)).toBe(true);
    expect(parseCredential(created.key)).toEqual({ kind: "api_key" });
    expect(created).toMatchObject({
      name: "web",
      account: "default",
      status: "active",
      expires_at: null,
      revoked_at: null,
    });

    const { key: secret, ...shown } = created;
    expect(await json(cwd, "keys", "list")).toEqual({ keys: [shown], next: null });
    expect(await json(cwd, "key", "show", "web")).toEqual(shown);
    const row = (await svc(["keys", "list"], { cwd })).stdout.split("\t");
    expect(row.slice(0, 5)).toEqual([created.id, "web", "default", created.display, "active"]);

    expect(await json(cwd, "keys", "revoke", "web", "--yes")).toMatchObject({
      id: created.id,
      status: "revoked",
    });
    expect((await svc(["keys", "list"], { cwd })).stdout).not.toContain(secret);
  });

  test("are printed alone, so that a script can take them", async () => {
    const cwd = await dataFolder();
    const { stdout, stderr } = await svc(["keys", "create", "--name", "web"], { cwd });
    expect(stdout).toMatch(/^sk-svc-[0-9A-Za-z]{38}\n$/);
    expect(stderr).toMatch(
      /^✓ Key web \(key_\w+\) of account default created in \.\/svc-data\. Shown once:\n$/,
    );
  });

  test("that cannot be made or found say why", async () => {
    const cwd = await dataFolder();
    await json(cwd, "keys", "create", "--name", "web");
    const refused = await Promise.all([
      svc(["keys", "create", "--name", "web", "--json"], { cwd }),
      svc(["keys", "create", "--name", "", "--json"], { cwd }),
      svc(["keys", "create", "--name", "x", "--account", "nobody", "--json"], { cwd }),
      svc(["keys", "show", "nope", "--json"], { cwd }),
    ]);
    expect(refused.map(({ exitCode, stderr }) => [exitCode, JSON.parse(stderr).error.code])).toEqual([
      [13, "invalid_request"],
      [13, "invalid_request"],
      [5, "not_found"],
      [5, "not_found"],
    ]);
  });
});

describe("accounts", () => {
  test("are created, credited, listed and shown with their ledger", async () => {
    const cwd = await dataFolder();
    const created = await json(cwd, "accounts", "create", "web", "--mode", "prepaid", "--credit", "5.00");
    expect(isId("acc", created.id)).toBe(true);
    expect(created).toMatchObject({
      name: "web",
      mode: "prepaid",
      currency: "USD",
      balance: "5.000000",
      available: "5.000000",
    });
    expect(await json(cwd, "account", "credit", "web", "-1.5", "--reason", "mistake")).toMatchObject({
      balance: "3.500000",
    });
    const { ledger } = await json(cwd, "accounts", "show", created.id);
    expect(ledger.map((entry: { balance_delta: string }) => entry.balance_delta)).toEqual([
      "5.000000",
      "-1.500000",
    ]);
    expect((await json(cwd, "accounts", "list")).accounts).toHaveLength(1);
    expect(await json(cwd, "keys", "create", "--name", "a", "--account", "web")).toMatchObject({
      account_id: created.id,
    });
  });

  test("take their name also from --name, and have no limit when unlimited", async () => {
    const cwd = await dataFolder();
    const created = await json(cwd, "accounts", "create", "--name", "free", "--mode", "unlimited");
    expect(created).toMatchObject({ name: "free", mode: "unlimited", available: null });
  });
});

test("tokens are created, listed and revoked", async () => {
  const cwd = await dataFolder();
  const created = await json(cwd, "tokens", "create", "--name", "ci");
  expect(parseCredential(created.token)).toEqual({ kind: "management_token" });
  const { token: _, ...shown } = created;
  expect(await json(cwd, "tokens", "list")).toEqual({ tokens: [shown], next: null });
  expect(await json(cwd, "token", "revoke", created.id, "--yes")).toMatchObject({ status: "revoked" });
  const { stdout, stderr } = await svc(["tokens", "create", "--name", "ops", "--show-secret-only"], { cwd });
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^mt-svc-\w{38}\n$/), ""]);
});

describe("the data folder", () => {
  test("that is not there is not made by a mistyped name", async () => {
    const cwd = emptyFolder();
    const { exitCode, stderr } = await svc(["keys", "create", "--name", "x", "--data-dir", "typo"], { cwd });
    expect([exitCode, existsSync(join(cwd, "typo"))]).toEqual([1, false]);
    expect(stderr).toContain("There is no svc data in");
  });

  test("is found by flag, variable or settings file", async () => {
    const cwd = await dataFolder();
    const dataDir = join(cwd, "svc-data");
    await Bun.write(join(cwd, "settings.yaml"), "data_dir: svc-data\n");
    const elsewhere = emptyFolder();
    const ways = [
      svc(["keys", "list"], { cwd: elsewhere, env: { SVC_DATA_DIR: dataDir } }),
      svc(["keys", "list", "--data-dir", dataDir], { cwd: elsewhere, env: { SVC_DATA_DIR: "/nowhere" } }),
      svc(["keys", "list", "--config", join(cwd, "settings.yaml")], { cwd: elsewhere }),
      svc(["keys", "list"], { cwd: elsewhere, env: { SVC_CONFIG: join(cwd, "settings.yaml") } }),
    ];
    expect((await Promise.all(ways)).map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  });

  test("with unusable settings ends with exit code 12 and every problem", async () => {
    const cwd = await dataFolder();
    await Bun.write(join(cwd, "svc-data/svc.yaml"), "prot: 1\nhost: 'a b'\n");
    const { exitCode, stderr } = await svc(["keys", "list", "--json"], { cwd });
    const { error } = JSON.parse(stderr);
    expect([exitCode, error.code, error.problems.length]).toEqual([12, "config_invalid", 2]);
    expect(error.message).toContain("svc.yaml:1:1: prot: is not a setting. Did you mean port?");
  });
});

test("migrations are told and applied", async () => {
  const cwd = emptyFolder();
  const before = await json(cwd, "migrate", "status");
  expect(before).toMatchObject({ current: 0, applied: [], data_dir: join(cwd, "svc-data") });
  expect([before.pending.length, existsSync(join(cwd, "svc-data"))]).toEqual([before.latest, false]);
  const up = await json(cwd, "migrate", "up");
  expect(up).toMatchObject({ current: before.latest, pending: [], applied: before.pending });
  expect((await svc(["migrate", "status"], { cwd })).stdout).toBe(
    `./svc-data: ${up.latest} of ${up.latest} migrations applied\n`,
  );
});
