import { expect, test } from "bun:test";
import type { LogLevel } from "../../src/domain/log-level.ts";
import { createManageLogLevel } from "../../src/service/log-level.ts";
import { fakeClock } from "../helpers/engine.ts";
import { NOW } from "../helpers/store.ts";

function setup(usual: LogLevel) {
  const timers: { at: number; run: () => void }[] = [];
  const clock = fakeClock();
  const lines: string[] = [];
  const settings = { level: usual };
  let level = usual;
  const write = (_: object, message: string) => void lines.push(`${level}: ${message}`);
  const manage = createManageLogLevel({
    usual: () => settings.level,
    clock: {
      now: clock.now,
      after(ms, run) {
        const timer = { at: clock.now() + ms, run };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer), 1);
      },
    },
    log: {
      ...{ debug: write, info: write, warn: write, error: write },
      level: () => level,
      setLevel: (next) => {
        level = next;
      },
    },
  });
  return {
    ...{ manage, lines, timers },
    reload(next: LogLevel) {
      settings.level = next;
      level = next;
    },
    pass(ms: number) {
      clock.advance(ms);
      for (const timer of timers.splice(0)) if (timer.at <= clock.now()) timer.run();
    },
  };
}

test("a level falls back by itself, and both changes are told whatever the levels are", () => {
  const { manage, lines, pass, timers } = setup("error");
  expect(manage.read()).toEqual({ level: "error", usual: "error", until: undefined });
  expect(manage.set("debug", 600_000)).toEqual({ level: "debug", usual: "error", until: NOW + 600_000 });
  pass(600_000);
  expect(manage.read()).toEqual({ level: "error", usual: "error", until: undefined });
  expect(lines).toEqual(Array(2).fill("info: the level of the log is changed"));
  expect(timers).toEqual([]);
});

test("the latest change counts, and naming the usual level ends it", () => {
  const { manage, timers } = setup("info");
  manage.set("debug", 1_000);
  manage.set("warn", 5_000);
  expect(timers).toHaveLength(1);
  expect(manage.read()).toMatchObject({ level: "warn", until: NOW + 5_000 });
  expect(manage.set("info", 9_000)).toEqual({ level: "info", usual: "info", until: undefined });
  expect(timers).toEqual([]);
});

test("a level of new settings ends the change, and nothing more is told of that", () => {
  const { manage, lines, pass, reload } = setup("info");
  manage.set("debug", 1_000);
  reload("warn");
  expect(manage.read()).toEqual({ level: "warn", usual: "warn", until: undefined });
  pass(1_000);
  expect([manage.read().level, lines]).toEqual(["warn", ["info: the level of the log is changed"]]);
});
