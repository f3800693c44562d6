import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchDiskOf } from "../../src/app/disk.ts";
import type { Log } from "../../src/domain/ports/runtime.ts";
import type { Reclaimable } from "../../src/domain/reclaimable.ts";
import { fakeClock } from "../helpers/engine.ts";

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };
const releases: (() => void | Promise<void>)[] = [];
const dataDir = mkdtempSync(join(tmpdir(), "svc-disk-"));
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
  rmSync(dataDir, { recursive: true, force: true });
});

/** A disk with less space than a petabyte, which is too little here, and a count that ends when it is told to. */
function watched() {
  const clock = fakeClock();
  const counted = Promise.withResolvers<Reclaimable>();
  const config = {
    ...{ dataDir, assets: { path: dataDir }, disk: { warnMb: 1e9, refuseMb: 1e9 }, retention: {} },
  } as never;
  const disk = watchDiskOf(config, { clock, log: quiet, count: () => counted.promise }, releases);
  return { clock, counted, disk };
}

test("what would free space is waited for while it is counted, a minute at most", () => {
  const { clock, disk } = watched();
  expect([disk.state(), disk.isAdvised()]).toEqual(["refusing", false]);
  clock.advance(59_999);
  expect(disk.isAdvised()).toBe(false);
  clock.advance(1);
  expect(disk.isAdvised()).toBe(true);
});

test("what cannot be counted is waited for no longer", async () => {
  const { counted, disk } = watched();
  counted.reject(new Error("no"));
  await counted.promise.catch(() => undefined);
  await Promise.resolve();
  expect([disk.isAdvised(), disk.advice()]).toEqual([true, undefined]);
});
