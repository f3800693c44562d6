import { expect, setDefaultTimeout, test } from "bun:test";
import { createFindings } from "../torture/findings.ts";
import { canTrace } from "../torture/syscalls-killer.ts";
import { runSyscallTorture } from "../torture/syscalls-run.ts";

setDefaultTimeout(60_000);

const SEED = 2;

test.skipIf(!canTrace())(
  "kills at system calls, first starts and migrations among them, lose nothing and leave nothing half made",
  async () => {
    const findings = createFindings();
    const { serving, starts } = await runSyscallTorture({ kills: 10, seed: SEED, keep: false }, findings);
    expect(findings.all).toEqual([]);
    // Else the kills have missed what they were aimed at.
    expect(starts).toEqual({ "first start": 2, migration: 2 });
    expect(serving.tally.completed).toBeGreaterThan(0);
  },
  300_000,
);
