import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settingsSign, watchSettings } from "../../src/app/live/watch.ts";
import { fakeClock } from "../helpers/engine.ts";

test.each([
  ["between its reading and the end of the start is read anew, once", false, 1],
  ["and was read on request since is not read again", true, 0],
])("a settings file that changed %s", (_, isReadMeanwhile, times) => {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-watch-"));
  const clock = fakeClock();
  let read = settingsSign({ dataDir });
  writeFileSync(join(dataDir, "svc.yaml"), "log: { level: debug }\n");
  let changes = 0;
  const take = () => {
    read = settingsSign({ dataDir });
  };
  const onChange = () => {
    changes++;
    take();
  };
  const stop = watchSettings({ dataDir }, () => read, clock, onChange);
  clock.advance(1_000);
  if (isReadMeanwhile) take();
  for (let second = 0; second < 5; second++) clock.advance(1_000);
  expect(changes).toBe(times);
  stop();
});
