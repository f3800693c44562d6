import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConfigSources, loadConfig } from "../../src/config/config.ts";
import { createSettings } from "../../src/config/settings.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { listSettings } from "../../src/toolkit/settings/setting.ts";

const workspace = mkdtempSync(join(tmpdir(), "svc-shown-"));
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

const PASSWORD = "pw-0123456789";
const KEY = "sk-live-0123456789abcdef";

function shownOf(yaml: string, sources: Partial<ConfigSources> = {}) {
  const cwd = mkdtempSync(join(workspace, "folder-"));
  mkdirSync(join(cwd, "svc-data"));
  const path = join(cwd, "svc-data/svc.yaml");
  writeFileSync(path, yaml);
  const shown = loadConfig({ cwd, cores: 4, providers: PROVIDERS, ...sources }).shown();
  const of = (key: string) => shown.find((each) => each.key === key);
  return { shown, of, path };
}

test("a default that is told as a number means what that number means when it is given", () => {
  const told = listSettings(createSettings({ cores: 4 }, PROVIDERS)).map((each) => ({
    ...each,
    text: each.fallbackText ?? String(each.fallback),
  }));
  const numbers = told.filter(({ fallback, text }) => typeof fallback === "number" && /^\d+$/.test(text));
  expect(numbers.length).toBeGreaterThan(20);
  for (const { key, parse, fallback, text } of numbers)
    expect([key, parse(text)]).toEqual([key, { ok: true, value: fallback }]);
});

describe("settings are shown", () => {
  test("with the flag, the variable, or file, line and column that gave each, and the default else", () => {
    const { of, path } = shownOf("log:\n  level: debug\nedge.timeout_seconds: 60\nport: 1\n", {
      flags: { port: "3" },
      env: { SVC_HOST: "0.0.0.0", SVC_EDGE_TIMEOUT_SECONDS: "" },
    });
    expect(of("port")).toMatchObject({ value: 3, source: "flag", where: "--port" });
    expect(of("host")).toMatchObject({ value: "0.0.0.0", source: "variable", where: "SVC_HOST" });
    expect(of("log.level")).toMatchObject({ value: "debug", source: "file", where: `${path}:2:3` });
    const edge = { value: 60, source: "file", where: `${path}:3:1`, standard: "120" };
    expect(of("edge.timeout_seconds")).toMatchObject(edge);
    expect(of("long_port")).toMatchObject({ value: "off", source: "default", standard: "off" });
    expect(of("callbacks.delays_seconds")).toMatchObject({ value: [5, 60, 600, 3600], source: "default" });
  });

  test("all of them, each once", () => {
    const { shown } = shownOf("pricing: {}\n");
    const keys = shown.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    const all = listSettings(createSettings({ cores: 4 }, PROVIDERS)).map(({ key }) => key);
    expect(all.filter((key) => !keys.includes(key))).toEqual([]);
    expect(keys).toContain("pricing");
  });

  test("without secrets", () => {
    const yaml = `proxy: http://user:${PASSWORD}@proxy.example:1
providers: { fal: { accounts: [{ name: a, key_env: MAIN_KEY, proxy: "http://user:${PASSWORD}@proxy.example:2" }, { name: b, key_env: sk-pasted }] } }
moderation: { checks: { own: { command: [check, --token, ${PASSWORD}] } } }
`;
    const env = { MAIN_KEY: KEY, OPENAI_API_KEY: KEY, SVC_SECRET_KEY: `${KEY}-of-twenty-and-more` };
    const { shown, of } = shownOf(yaml, { env });
    const text = JSON.stringify(shown);
    expect([text.includes(PASSWORD), text.includes(KEY)]).toEqual([false, false]);
    expect(of("proxy")).toMatchObject({ value: "[secret]", source: "file" });
    expect(of("OPENAI_API_KEY")).toMatchObject({ value: "[secret]", source: "variable" });
    expect(of("FAL_KEY")).toMatchObject({ value: null, source: "default" });
    expect(of("providers.fal.accounts")?.value).toEqual([
      { name: "a", key_env: "MAIN_KEY", proxy: "[secret]" },
      { name: "b", key_env: "[secret]" },
    ]);
  });

  test("without the addresses of webhooks that alerts go to, and without arguments of programs", () => {
    const { shown, of } = shownOf(`alerts:
  - { on: all, to: "https://hooks.example/services/${KEY}?token=${PASSWORD}" }
  - { on: all, to: [notify, --token, ${PASSWORD}] }
  - { on: all, to: "smtp://user@mail.example:587?from=a@b.example&to=c@d.example" }
`);
    const text = JSON.stringify(shown);
    expect([text.includes(PASSWORD), text.includes(KEY)]).toEqual([false, false]);
    expect(of("alerts")?.value).toEqual([
      { on: "all", to: "https://hooks.example/…" },
      { on: "all", to: "[secret]" },
      { on: "all", to: "smtp://…@mail.example:587?from=a@b.example&to=c@d.example" },
    ]);
  });
});
