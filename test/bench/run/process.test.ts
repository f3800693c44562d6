import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cpuMs, ownCpuUs } from "./process.ts";

const SPENT_MS = 50;
const spending = (ms: number) =>
  `while (process.cpuUsage().user < ${ms * 1000}) for (let i = 0; i < 1e6; i++);`;
const SPENDING = spending(SPENT_MS);
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

/** Has a shell that ends at once and leaves a child, which ends when it has spent its time. */
const ORPHANING = `
  const { adoptOrphans, cpuMs } = await import(process.argv[1]);
  if (process.argv[2] === "adopt") adoptOrphans();
  const before = cpuMs(process.pid);
  const shell = Bun.spawn(["sh", "-c", '"$0" -e "$1" &', process.execPath, process.argv[3]], { stdout: "pipe" });
  await shell.exited;
  // Its output ends when the orphan does.
  await shell.stdout.text();
  console.log(cpuMs(process.pid) - before);`;

test.skipIf(process.platform !== "linux")(
  "the processor time of an orphan counts where orphans are adopted",
  async () => {
    const spent = async (how: string) => {
      const module = join(import.meta.dir, "process.ts");
      const command = [process.execPath, "-e", ORPHANING, module, how, spending(300)];
      return Number(await Bun.spawn(command, { stdout: "pipe" }).stdout.text());
    };
    expect(await spent("adopt")).toBeGreaterThanOrEqual(300);
    expect(await spent("leave")).toBeLessThan(300);
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
