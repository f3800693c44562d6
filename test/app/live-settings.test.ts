import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { APPLIED, settingsInForce } from "../../src/app/live/in-force.ts";
import { canChange, differing } from "../../src/app/live/reload.ts";
import { signOf } from "../../src/app/live/sign.ts";
import { readConfig, serviceSettings } from "../../src/app/settings.ts";
import { RESTART_KEYS, restartReason } from "../../src/config/restart.ts";
import { createSettings } from "../../src/config/settings.ts";
import type { LaneId } from "../../src/domain/ids.ts";
import { createSecret } from "../../src/toolkit/settings/secret.ts";
import { listSettings } from "../../src/toolkit/settings/setting.ts";
import { MASK } from "../../src/toolkit/settings/shown.ts";

const cwd = mkdtempSync(join(tmpdir(), "svc-live-"));

/** Another value than the default of each live setting, as a variable has it. */
const OTHERS: Readonly<Record<string, string>> = {
  SVC_TRUSTED_PROXIES: "10.0.0.0/8",
  SVC_CORS_ORIGINS: "https://app.example",
  SVC_SYNC_WAIT_SECONDS: "7",
  SVC_SYNC_RESPONSE_FORMAT: "url",
  SVC_STREAMS_KEY_CONCURRENCY: "1",
  SVC_WAITS_KEY_CONCURRENCY: "2",
  SVC_STREAMS_ACCOUNT_CONCURRENCY: "3",
  SVC_WAITS_ACCOUNT_CONCURRENCY: "4",
  SVC_MCP_MAX_COST_REQUIRED_ABOVE: "0.5",
  SVC_MCP_INLINE_BYTES: "5",
  SVC_ALIASES: "a=sandbox-image",
  SVC_LOG_LEVEL: "debug",
  SVC_SCHEDULER_CONCURRENCY: "5",
  SVC_SCHEDULER_STEPS: "6",
  SVC_LOG_REQUESTS: "false",
  SVC_RETENTION_OUTPUTS_SECONDS: "60",
  SVC_RETENTION_INPUTS_SECONDS: "61",
  SVC_RETENTION_CALLBACKS_SECONDS: "62",
  SVC_RETENTION_TASKS_SECONDS: "63",
  SVC_RETENTION_BOOKS_SECONDS: "2678401",
  SVC_UPLOADS_KEEP_SECONDS: "61",
  SVC_UPLOADS_ACCOUNT_MB: "5",
  SVC_DISK_WARN_MB: "7",
  SVC_DISK_REFUSE_MB: "off",
  SVC_SHED_QUEUE_SECONDS: "8",
  SVC_SHED_LAG_MS: "9",
  SVC_SHED_MEMORY_MB: "1000",
  SVC_EGRESS_ALLOW: "192.168.0.0/16",
  SVC_CALLBACKS_DELAYS_SECONDS: "1,2",
  SVC_CALLBACKS_CONCURRENCY: "10",
  SVC_CALLBACKS_ACCOUNT_CONCURRENCY: "11",
};

test("every live setting of the service has code that applies it, and no other has", () => {
  const live = listSettings(createSettings({ cores: 1 }, [])).filter((each) => each.live === true);
  expect(live.map(({ key }) => key).sort()).toEqual(Object.keys(APPLIED).sort());
});

test("every setting comes into force at once or says why it needs a restart, and none does both", () => {
  const all = serviceSettings();
  const wrong = all.filter((each) => canChange(each.key) === (restartReason(each, all) !== undefined));
  expect(wrong.map(({ key }) => key)).toEqual([]);
  const ofServer = listSettings(createSettings({ cores: 1 }, [])).map(({ key }) => key);
  const isNamed = (key: string) =>
    RESTART_KEYS.includes(key) || RESTART_KEYS.includes(key.split(".")[0] ?? "");
  // Those of providers have one reason for all.
  expect(ofServer.filter((key) => !canChange(key) && !isNamed(key))).toEqual([]);
  const isThere = (named: string) => ofServer.some((key) => key === named || key.startsWith(`${named}.`));
  expect(RESTART_KEYS.filter((key) => !isThere(key))).toEqual([]);
});

test("each is in force once it is applied, and nothing else is", () => {
  const before = readConfig({ cwd });
  const others = readConfig({ cwd, env: OTHERS });
  expect(others.warnings).toEqual([]);
  const values = (config: object) => JSON.parse(JSON.stringify(config));
  const to = settingsInForce(before);
  const { aliases } = to;
  for (const [key, apply] of Object.entries(APPLIED)) {
    const was = values(to);
    apply(to, others);
    expect([key, values(to)]).not.toEqual([key, was]);
  }
  expect(values(to)).toEqual(values(others));
  // Who reads them holds the object.
  expect(to.aliases).toBe(aliases);
  expect(values(before)).toEqual(values(readConfig({ cwd })));
});

test("settings that come or go with a provider of the data folder are no change; parts of the file are", () => {
  const setting = {
    key: "providers.own.concurrency",
    help: "How many.",
    value: 16,
    source: "default",
  } as const;
  const variable = {
    key: "OWN_KEY",
    value: MASK,
    source: "variable",
    restart: "It is read at the start.",
  } as const;
  const part = { key: "aliases", value: { a: "b" }, source: "file" } as const;
  const all = [setting, variable, part];
  expect([differing(all, []), differing([], all)]).toEqual([["aliases"], ["aliases"]]);
  expect(differing(all, [{ ...setting, value: 4 }, { ...variable, value: null }, part])).toEqual([
    setting.key,
    variable.key,
  ]);
  expect(differing(all, all)).toEqual([]);
});

test("the sign of a provider is another one with another key, and tells nothing of it", () => {
  const account = { name: "default", lane: "fal" as LaneId };
  const sign = (key: string) =>
    signOf({ values: {}, accounts: [{ ...account, secrets: { key: createSecret(key) } }] }, { dataDir: cwd });
  expect(sign("one")).toBe(sign("one"));
  expect(sign("one")).not.toBe(sign("two"));
  expect(sign("one")).toMatch(/^[0-9a-f]{64}$/);
});
