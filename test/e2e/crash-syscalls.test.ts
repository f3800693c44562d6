import { expect, setDefaultTimeout, test } from "bun:test";
import { createFindings } from "../torture/findings.ts";
import { createPowerCuts } from "../torture/power-cuts.ts";
import { canTrace, decideKill } from "../torture/syscalls-killer.ts";
import { runSyscallTorture } from "../torture/syscalls-run.ts";

setDefaultTimeout(120_000);

const SEED = 2;
const FEW = { kills: 10, seed: SEED, keep: false };

test.skipIf(!canTrace())(
  "kills at system calls, first starts and migrations among them, lose nothing and leave nothing half made",
  async () => {
    const findings = createFindings();
    const { serving, starts } = await runSyscallTorture(FEW, decideKill, findings);
    expect(findings.all).toEqual([]);
    // Else the kills have missed what they were aimed at.
    expect(starts).toEqual({ "first start": 2, migration: 2 });
    expect(serving.tally.completed).toBeGreaterThan(0);
  },
  300_000,
);

test.skipIf(!canTrace())(
  "power cuts at system calls, during first starts and migrations too, take nothing that anybody was told",
  async () => {
    const findings = createFindings();
    const { decide, lost } = createPowerCuts();
    const { serving, starts } = await runSyscallTorture(FEW, decide, findings);
    expect(findings.all).toEqual([]);
    expect(starts).toEqual({ "first start": 2, migration: 2 });
    expect(serving.tally.completed).toBeGreaterThan(0);
    // Else they have taken nothing that was not flushed.
    expect(lost().cuts).toBeGreaterThan(2);
  },
  300_000,
);
