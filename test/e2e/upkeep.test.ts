import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/domain/json.ts";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { svcJson } from "./support/command.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };

test("a token has a running server verify, collect, back up, keep keys and purge, and the trail says so", async () => {
  const to = join(emptyFolder("backups"), "to");
  mkdirSync(to);
  const server = await startServer({ args: ["--backup-to", to] });
  const folder = ["--data-dir", server.dataDir];
  const { token } = (await svcJson(["tokens", "create", "--name", "laptop", ...folder])) as JsonObject;
  const env = { SVC_SERVER: server.url, SVC_MANAGEMENT_TOKEN: String(token) };
  const afar = async (args: readonly string[], stdin = "") => {
    // Safe: what each command prints is looked at below.
    return (await svcJson(args, { env, stdin })) as Record<string, JsonObject[]> & { path: string };
  };
  await createApi(server.url, server.firstKey()).make(IMAGE);
  expect((await afar(["assets", "list"])).assets).toHaveLength(1);
  expect(await afar(["assets", "verify"])).toMatchObject({ files: 1, damaged: [] });
  expect(await afar(["assets", "gc", "--yes"])).toMatchObject({ dry_run: false, files: 0 });
  expect(await afar(["db", "check"])).toMatchObject({ server: server.url, ok: true });
  const made = await afar(["db", "backup"]);
  expect(made).toMatchObject({ server: server.url, missing: 0 });
  expect(readdirSync(to)).toContain(made.path.split("/").at(-1) ?? "none");

  await afar(["providers", "add", "bfl", "--key-stdin"], "bfl-0123456789abcdef");
  const on = await afar(["providers", "show", "bfl"]);
  expect(on).toMatchObject({ available: true, accounts: [{ name: "default", key_from: "kept" }] });
  await afar(["providers", "remove", "bfl", "--yes"]);
  expect(await afar(["providers", "show", "bfl"])).toMatchObject({ available: false });

  await afar(["accounts", "purge", "default", "--yes"]);
  expect((await afar(["assets", "list"])).assets).toEqual([]);
  const { entries } = await afar(["audit", "log", "--actor", "laptop"]);
  expect(entries?.map(({ action }) => action).reverse()).toEqual([
    ...["files.verify", "files.collect", "backup.create", "provider.add", "provider.remove"],
    ...["account.suspend", "account.purge"],
  ]);
  expect(JSON.stringify(entries)).not.toContain("bfl-0123");
  expect(await svcJson(["audit", ...folder])).toMatchObject({ adds_up: true });
});
