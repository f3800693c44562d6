import { Database } from "bun:sqlite";
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, spawnServer, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { svc } from "./support/command.ts";

setDefaultTimeout(120_000);

afterEach(stopServers);

describe("settings that cannot be", () => {
  test("are all named at once, with exit code 12, and nothing is made", async () => {
    const folder = emptyFolder();
    const file = join(folder, "settings.yaml");
    writeFileSync(file, "prot: 8080\nscheduler:\n  steps: many\n");
    const args = ["serve", "--config", file, "--port", "99999", "--log-level", "loud"];
    const { exitCode, stderr } = await svc(args, { folder, env: { SVC_HOST: "http://localhost" } });
    expect(exitCode).toBe(12);
    for (const part of ["prot", "port", "scheduler.steps", "99999", "loud", "SVC_HOST"])
      expect(stderr).toContain(part);
    expect(existsSync(join(folder, "svc-data"))).toBe(false);
  });

  test("include a settings file that is not there", async () => {
    const { exitCode, stderr } = await svc(["serve", "--config", "nowhere.yaml"]);
    expect(exitCode).toBe(12);
    expect(stderr).toContain("nowhere.yaml");
  });

  test("and an unknown flag is a wrong use of the command: exit code 2", async () => {
    expect((await svc(["serve", "--prot", "1"])).exitCode).toBe(2);
  });
});

describe("the folder a server runs in", () => {
  test("cannot configure it: .env and bunfig.toml there mean nothing", async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, ".env"), "SVC_LOG_LEVEL=nonsense\nSVC_PORT=1\n");
    writeFileSync(join(folder, "preload.js"), 'require("node:fs").writeFileSync("preloaded", "");\n');
    writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./preload.js"]\n');
    const server = await startServer({ folder });
    expect(existsSync(join(folder, "preloaded"))).toBe(false);
    expect(await server.stop()).toBe(0);
  });

  test("may have svc.yaml in its data folder, and flags go before it", async () => {
    const folder = emptyFolder();
    mkdirSync(join(folder, "svc-data"));
    writeFileSync(join(folder, "svc-data/svc.yaml"), "port: 1\npublic_url: https://media.example.com\n");
    const server = await startServer({ folder });
    const api = createApi(server.url, server.firstKey());
    const task = await api.make({
      model: "sandbox-image",
      prompt: "x",
      size: "16x16",
      sandbox: { delay_ms: 0 },
    });
    expect(task.result?.[0]).toStartWith("https://media.example.com/assets/asset_");
    await server.stop();
  });
});

describe("a database of a later version", () => {
  test("is refused, by name, and not touched", async () => {
    const server = await startServer();
    await server.stop();
    const path = join(server.dataDir, "svc.db");
    {
      using db = new Database(path);
      db.run("INSERT INTO schema_migration VALUES (9001, '9001_from_the_future', 'x', 0)");
    }
    const second = spawnServer({ folder: server.folder });
    expect(await second.exited).not.toBe(0);
    expect(second.stderr() + second.stdout()).toContain("9001_from_the_future");
    using db = new Database(path, { readonly: true });
    expect(db.query("SELECT count(*) AS rows FROM schema_migration WHERE number = 9001").get()).toEqual({
      rows: 1,
    });
  });
});

test("without the sandbox there is no model, and a create says so", async () => {
  const server = await startServer({ args: ["--no-sandbox"] });
  const api = createApi(server.url, server.firstKey());
  expect((await api.send("/v1/models")).data.models).toEqual([]);
  const refused = await api.create({ model: "sandbox-image", prompt: "x" });
  expect([refused.status, refused.data.error_code]).toEqual([404, "model_not_available"]);
  await server.stop();
});
