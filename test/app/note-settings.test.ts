import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settingsInForce } from "../../src/app/live/in-force.ts";
import { createReload } from "../../src/app/live/reload.ts";
import { noteSettings, tryNoteSettings } from "../../src/app/note-settings.ts";
import { readConfig } from "../../src/app/settings.ts";
import { StorageError } from "../../src/domain/ports/task-store.ts";
import type { TrailStore } from "../../src/domain/ports/trail-store.ts";
import type { ShownSetting } from "../../src/toolkit/settings/shown.ts";
import { openEmptyStore } from "../helpers/open-store.ts";
import { NOW } from "../helpers/store.ts";

const inFile = (key: string, value: unknown): ShownSetting => ({
  ...{ key, value, source: "file", where: "/srv/svc.yaml:3:7" },
});

test("what the settings file says is noted when it says something else, and not what flags and variables say", async () => {
  const { trail, stop } = openEmptyStore();
  const start = (...shown: ShownSetting[]) =>
    noteSettings({ config: { shown: () => shown }, trail, clock: { now: () => NOW } });
  const flag: ShownSetting = { key: "port", value: 1, source: "flag", where: "--port" };
  const level = inFile("log.level", "info");
  await start(flag);
  await start(flag, level);
  await start(level);
  await start(level, inFile("edge.timeout_seconds", 60));
  await start();
  const { entries } = await trail.page({ limit: 9 });
  expect(entries.map(({ before, after }) => [before, after])).toEqual([
    [{ "log.level": "info", "edge.timeout_seconds": 60 }, {}],
    [{ "log.level": "info" }, { "log.level": "info", "edge.timeout_seconds": 60 }],
    [{}, { "log.level": "info" }],
  ]);
  expect(entries[1]?.actor).toEqual({ kind: "file", name: "/srv/svc.yaml" });
  await stop();
});

test("settings that were read anew are in force, and said to be, although the disk is too full to note them", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "svc-note-"));
  const config = settingsInForce(readConfig({ cwd }));
  const warned: string[] = [];
  const log = {
    ...{ info() {}, error() {}, setLevel() {} },
    warn: (_: object, text: string) => warned.push(text),
  };
  const full = () => Promise.reject(new StorageError("full", "The disk is full."));
  const trail = { page: full, note: full } as unknown as TrailStore;
  const { reload, shown, lastRead } = createReload({
    ...{ sign: () => "after", readSign: "before", config, log: log as never, catalog: {} as never },
    read: () => readConfig({ cwd, env: { SVC_RETENTION_OUTPUTS_SECONDS: "60" } }),
    ...{
      takePrices() {},
      tellAliases() {},
      takeProviders: async () => {},
      openChecks: async () => () => {},
      wake() {},
    },
    note: (next) => tryNoteSettings({ config: next, trail, clock: { now: () => NOW }, log: log as never }),
  });
  const key = "retention.outputs_seconds";
  expect(lastRead()).toBe("before");
  expect(await reload()).toEqual({ isInForce: true, changed: [key], restart: [], problems: [] });
  expect(lastRead()).toBe("after");
  expect(shown().find((each) => each.key === key)?.value).toBe(60);
  expect(config.retention.outputsMs).toBe(60_000);
  expect(warned).toEqual(["the settings could not be noted in the trail; a later reading tries again"]);
});
