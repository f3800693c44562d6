import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataDirectoryBusy, lockDataDirectory, lockForServer } from "../../src/app/data-folder.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "svc-locked-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** A clock that is at its next time at once. */
function countingClock(onWait: (waits: number) => void = () => {}) {
  const delays: number[] = [];
  const after = (delayMs: number, run: () => void) => {
    onWait(delays.push(delayMs));
    run();
    return () => {};
  };
  return { after, waitedMs: () => delays.reduce((sum, each) => sum + each, 0) };
}

test("a server waits for the lock of one that still ends", async () => {
  const release = lockDataDirectory({ dataDir });
  const clock = countingClock((waits) => waits === 3 && release());
  const releaseOwn = await lockForServer({ dataDir }, clock);
  expect(clock.waitedMs()).toBe(150);
  releaseOwn();
});

test("a server waits no longer than a second for one that goes on", async () => {
  const release = lockDataDirectory({ dataDir });
  const clock = countingClock();
  const refused = await lockForServer({ dataDir }, clock).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DataDirectoryBusy);
  expect(clock.waitedMs()).toBe(1_000);
  release();
});
