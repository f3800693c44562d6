import { expect, test } from "bun:test";
import { type Reclaimable, reclaimLines, sizeText } from "../../src/domain/reclaimable.ts";

const NOTHING: Reclaimable = {
  ...{ outputs: [0, 0, 0, 0], inputs: [0, 0, 0, 0], callbacks: [0, 0, 0, 0] },
  ...{ unneeded: 0, played: 0, cache: 0, logs: 0, wal: 0, freePages: 0, isWhole: true },
};

test("what frees most comes first, with its value now, and of ages that free the same the longest is told", () => {
  const found = {
    ...NOTHING,
    outputs: [4e9, 1.25e9, 1.25e9, 0],
    inputs: [2e6, 0, 0, 0],
    wal: 80e6,
    logs: 9_999,
  };
  expect(reclaimLines(found, { outputsMs: 8_640_000_000 })).toEqual([
    "retention.tasks_seconds (now off): 86400 (1 d) frees 4 GB, 2592000 (30 d) frees 1.3 GB",
    "retention.outputs_seconds (now 8640000): 86400 (1 d) frees 4 GB, 2592000 (30 d) frees 1.3 GB",
    "the write-ahead log is 80 MB; svc doctor says how to find who keeps it so long",
    "retention.inputs_seconds (now off): 86400 (1 d) frees 2 MB",
  ]);
  expect(reclaimLines(NOTHING, {})).toEqual([]);
  // A log of this length stays, and is overwritten.
  expect(reclaimLines({ ...NOTHING, wal: 48 * 2 ** 20 }, {})).toEqual([]);
});

test("what was not counted to its end is told as the least", () => {
  const found = { ...NOTHING, inputs: [5e6, 5e6, 5e6, 5e6], unneeded: 12e6, isWhole: false };
  expect(reclaimLines(found, {})[0]).toBe("svc assets gc frees at least 12 MB of files that no task has");
  expect(reclaimLines(found, {}).join()).toContain("7776000 (90 d) frees at least 5 MB");
});

test("sizes are in the unit that people read", () => {
  expect([999, 1_500_000, 2e9, 3.04e12].map(sizeText)).toEqual(["1 KB", "1.5 MB", "2 GB", "3 TB"]);
});
