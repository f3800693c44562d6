import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DataDirectoryBusy,
  lockDataDirectory,
  lockForServer,
  RestoreUnfinished,
} from "../../src/app/data-folder.ts";
import { RESTORING } from "../../src/app/folder-contents.ts";
import { lockDirectory } from "../../src/runtime/directory-lock.ts";

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

test("a restore is told to have been cut off only once nobody works on it", () => {
  const restore = lockDirectory(dataDir);
  mkdirSync(join(dataDir, RESTORING));
  expect(() => lockDataDirectory({ dataDir })).toThrow(DataDirectoryBusy);
  restore?.release();
  // What is refused keeps no lock.
  for (let time = 0; time < 2; time++)
    expect(() => lockDataDirectory({ dataDir })).toThrow(RestoreUnfinished);
});
