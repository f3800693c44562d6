import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { cpuMs, ownCpuUs } from "./process.ts";

const SPENT_MS = 50;
const SPENDING = `while (process.cpuUsage().user < ${SPENT_MS * 1000}) {}`;
/** One child that ends, and one that lives until its standard input ends. */
const SCRIPT = '"$0" -e "$1"; echo ended; "$0" -e "$1; console.log(1); await Bun.stdin.text()"; true';

test.skipIf(!existsSync("/proc/self/task"))(
  "the processor time of a process has that of its children, living and ended",
  async () => {
    const shell = Bun.spawn(["sh", "-c", SCRIPT, process.execPath, SPENDING], {
      stdin: "pipe",
      stdout: "pipe",
    });
    const said = shell.stdout.getReader();
    await said.read();
    const ended = cpuMs(shell.pid) ?? 0;
    expect(ended).toBeGreaterThanOrEqual(SPENT_MS);
    await said.read();
    // The start of the second child is more than what ticks of 10 ms leave out.
    expect(cpuMs(shell.pid)).toBeGreaterThanOrEqual(ended + SPENT_MS);
    await shell.stdin.end();
    await shell.exited;
    expect(cpuMs(shell.pid)).toBeUndefined();
  },
);

test.skipIf(process.platform !== "linux")("a process's own time is told in parts of a tick", () => {
  const before = ownCpuUs(process.pid) ?? 0;
  const { user } = process.cpuUsage();
  while (process.cpuUsage().user < user + SPENT_MS * 1000) {}
  const spentUs = (ownCpuUs(process.pid) ?? 0) - before;
  // Both clocks are read one after the other.
  expect(spentUs).toBeGreaterThan(SPENT_MS * 900);
  // No process has an id above 2^22 (proc_sys_kernel(5)).
  expect(ownCpuUs(2 ** 22 + 1)).toBeUndefined();
});
