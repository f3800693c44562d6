import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settingsSign, watchSettings } from "../../src/app/live/watch.ts";
import { fakeClock } from "../helpers/engine.ts";

test("a settings file that changed between its reading and the end of the start is read anew, once", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-watch-"));
  const clock = fakeClock();
  const readAt = settingsSign({ dataDir });
  writeFileSync(join(dataDir, "svc.yaml"), "log: { level: debug }\n");
  let changes = 0;
  const stop = watchSettings({ dataDir }, readAt, clock, () => changes++);
  for (let second = 0; second < 5; second++) clock.advance(1_000);
  expect(changes).toBe(1);
  stop();
});
