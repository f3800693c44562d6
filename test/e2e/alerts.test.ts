import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { svc } from "./support/command.ts";
import { startMailServer } from "./support/mail-server.ts";

setDefaultTimeout(120_000);
afterAll(stopServers);

interface Told {
  readonly text: string;
  readonly alerts: readonly { readonly state: string; readonly on: string; readonly summary: string }[];
}

/** A webhook that keeps what it gets. */
function startWebhook() {
  const told: Told[] = [];
  let wake = () => {};
  const server = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    async fetch(request) {
      told.push((await request.json()) as Told);
      wake();
      return new Response();
    },
  });
  return {
    ...{ told, url: `http://127.0.0.1:${server.port}/hook/secret-canary`, stop: () => server.stop(true) },
    async first(): Promise<Told> {
      while (told[0] === undefined)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return told[0];
    },
  };
}

/** A data folder with these lines in its settings. */
function dataFolder(...lines: readonly string[]): string {
  const dataDir = join(emptyFolder("alerts"), "svc-data");
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(join(dataDir, "svc.yaml"), `alerts:\n${lines.map((line) => `  - ${line}\n`).join("")}`);
  return dataDir;
}

test("a server tells a webhook, a program and a mailbox what is wrong, once, also after a restart", async () => {
  const [webhook, mailbox] = [startWebhook(), startMailServer()];
  const dataDir = dataFolder(
    `{ on: [disk_low], to_env: HOOK_URL, private: true }`,
    `{ on: disk_low, to: "${mailbox.url}?from=svc@example.com&to=ops@example.com" }`,
    `{ on: all, to: [sh, -c, "cat >> told.json"] }`,
  );
  const options = { dataDir, env: { HOOK_URL: webhook.url } };
  const server = await startServer({ ...options, args: ["--disk-warn-mb", "1000000000"] });
  const told = await webhook.first();
  expect(told.alerts).toHaveLength(1);
  expect(told.alerts[0]).toMatchObject({ state: "firing", on: "disk_low" });
  expect(told.alerts[0]?.summary).toMatch(
    /^The disk of the data folder has \S+ \wB left, less than 1000 TB; new tasks are refused below \S+ \wB\./,
  );
  expect(told.text).toContain(told.alerts[0]?.summary ?? "nothing");
  const mail = await mailbox.first();
  expect(mail).toMatch(/^Subject: svc on .*: disk_low firing/m);
  expect(mail).toContain("To: ops@example.com");
  await server.says(/"to":"command sh".*alerts were sent|alerts were sent.*"to":"command sh"/);
  expect(JSON.parse(readFileSync(join(dataDir, "told.json"), "utf8")).alerts).toMatchObject([
    { on: "disk_low" },
  ]);
  await server.stop();
  expect(server.stderr()).not.toContain("secret-canary");

  writeFileSync(join(dataDir, "svc.yaml"), "alerts: [{ on: disk_low, to_env: HOOK_URL, private: true }]\n");
  const again = await startServer({ ...options, args: ["--disk-warn-mb", "off"] });
  await again.says(/alerts were sent/);
  expect(webhook.told.map(({ alerts }) => alerts.map(({ state }) => state))).toEqual([
    ["firing"],
    ["resolved"],
  ]);
  webhook.stop();
  mailbox.stop();
});

test("svc alerts test says who could be told, and ends with 1 where somebody could not", async () => {
  const webhook = startWebhook();
  const good = dataFolder(`{ on: all, to: "${webhook.url}", private: true }`);
  const { exitCode, stdout } = await svc(["alerts", "test", "--json", "--data-dir", good]);
  expect([exitCode, JSON.parse(stdout).targets[0].sent]).toEqual([0, true]);
  expect(webhook.told[0]?.alerts).toMatchObject([{ state: "test", on: "test" }]);
  const bad = dataFolder(`{ on: all, to: "${webhook.url}" }`, "{ on: all, to: [sh, -c, exit 3] }");
  const failed = await svc(["alerts", "test", "--data-dir", bad]);
  expect(failed.exitCode).toBe(1);
  expect(failed.stdout).toMatch(/webhook 127\.0\.0\.1:\d+\s.*\sno\s.*not public/);
  expect(failed.stdout).toMatch(/command sh\s.*\sno\s.*exit code 3/);
  expect(failed.stdout + failed.stderr).not.toContain("secret-canary");
  webhook.stop();
});

test("every mistake in who is told is named with its place", async () => {
  const dataDir = dataFolder(
    "{ on: [disk_lo], to: https://example.com }",
    "{ on: all }",
    "{ on: all, to: ftp://example.com }",
    "{ on: all, to: smtp://mail.example.com }",
    "{ on: all, to_env: NOT_SET }",
    "{ on: all, to: https://example.com, remind_seconds: 1 }",
  );
  const { exitCode, stderr, stdout } = await svc(["config", "validate", "--data-dir", dataDir]);
  expect(exitCode).toBe(1);
  const said = stdout + stderr;
  for (const [line, text] of [
    [2, "disk_lo"],
    [3, "must have to or to_env"],
    [4, "must be an http"],
    [5, "mail needs"],
    [6, "NOT_SET, which is not set"],
    [7, "must be seconds"],
  ])
    expect(said).toMatch(new RegExp(`svc\\.yaml:${line}:\\d+.*${text}`));
});
