import { expect, test } from "bun:test";
import { noteSettings } from "../../src/app/note-settings.ts";
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
