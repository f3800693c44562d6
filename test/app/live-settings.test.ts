import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { APPLIED, settingsInForce } from "../../src/app/live/in-force.ts";
import { signOf } from "../../src/app/live/sign.ts";
import { readConfig } from "../../src/app/settings.ts";
import { createSettings } from "../../src/config/settings.ts";
import type { LaneId } from "../../src/domain/ids.ts";
import { createSecret } from "../../src/toolkit/settings/secret.ts";
import { listSettings } from "../../src/toolkit/settings/setting.ts";

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
  SVC_ALIASES: "a=sandbox-image",
  SVC_LOG_LEVEL: "debug",
  SVC_SCHEDULER_CONCURRENCY: "5",
  SVC_SCHEDULER_STEPS: "6",
};

test("every live setting of the service has code that applies it, and no other has", () => {
  const live = listSettings(createSettings({ cores: 1 }, [])).filter((each) => each.live === true);
  expect(live.map(({ key }) => key).sort()).toEqual(Object.keys(APPLIED).sort());
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

test("the sign of a provider is another one with another key, and tells nothing of it", () => {
  const account = { name: "default", lane: "fal" as LaneId };
  const sign = (key: string) =>
    signOf({ values: {}, accounts: [{ ...account, secrets: { key: createSecret(key) } }] }, { dataDir: cwd });
  expect(sign("one")).toBe(sign("one"));
  expect(sign("one")).not.toBe(sign("two"));
  expect(sign("one")).toMatch(/^[0-9a-f]{64}$/);
});
