import { join } from "node:path";
import type { TerminalProcess } from "../../e2e/support/terminal.ts";
import { cpuMs } from "../run/process.ts";
import { measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { seedFinishedTasks } from "../run/seed.ts";
import { copyDataFolder, createTask, startService, TINY } from "../run/service.ts";
import type { Bench } from "./bench.ts";

const TASKS = 10_000;
/** A multiple of all turns. */
const KEYS = 48;
const REST_MS = 5_000;
const SIZES = [
  [80, 24],
  [200, 60],
] as const;

/** `svc task watch` with ten thousand tasks, one of which runs: how long until a key is seen on the terminal, and what it costs to look on. */
export const watch: Bench = async ({ folder, template, workspace, rounds, scaled }) => {
  await using resources = new Resources();
  // Loaded late: it looks for the executable as it is loaded, and other benches have no terminal.
  const { inTerminal } = await import("../../e2e/support/terminal.ts");
  const own = copyDataFolder(folder, join(workspace, "svc"));
  seedFinishedTasks(own.database, { template, count: TASKS - 2, sample: 1 });
  const service = await resources.open(startService(own));
  await createTask(service, { ...TINY, sandbox: { outcome: "hang" } });
  const env = { SVC_SERVER: `http://127.0.0.1:${service.port}`, SVC_API_KEY: own.unlimitedKey };
  const measured: ReturnType<typeof measurement>[] = [];
  for (const [columns, rows] of SIZES) {
    const terminal = inTerminal(["task", "watch"], workspace, env, {
      columns,
      rows,
      command: [folder.build.executable],
    });
    await terminal.draws((frame) => /all 10000/.test(frame[1] ?? "") && /live/.test(frame[0] ?? ""));
    const size = `${columns}×${rows}`;
    const moves = await each(rounds, () => timed(terminal, scaled(KEYS), move));
    const searches = await each(rounds, () => timed(terminal, scaled(KEYS), search));
    const rest = await each(rounds, () => restOf(terminal));
    measured.push(
      ...keyMeasurements(`${size}, a key that moves`, moves),
      ...keyMeasurements(`${size}, a key that searches`, searches),
      measurement({
        ...{ name: `watch at ${size}, at rest: of a core`, unit: "%", values: rest },
        target: { kind: "most", value: 5 },
      }),
    );
    terminal.press("q");
    await terminal.exited;
  }
  return measured;
};

/** What a key took, in ms. */
interface Took {
  /** Until its frame was seen. */
  readonly seen: number;
  /** Of the program's processor time. */
  readonly cpu: number;
}

function keyMeasurements(name: string, took: readonly Took[]) {
  const target = { kind: "most", value: 50 } as const;
  return [
    measurement({ name: `watch at ${name}`, unit: "ms", values: took.map(({ seen }) => seen), target }),
    measurement({
      name: `  ${name}: processor time`,
      unit: "ms",
      values: took.map(({ cpu }) => cpu),
      target,
    }),
  ];
}

async function each<T>(rounds: number, measure: () => Promise<T>): Promise<T[]> {
  const values: T[] = [];
  for (let round = 0; round < rounds; round++) values.push(await measure());
  return values;
}

/** Presses keys, each when the one before was seen. */
async function timed(
  terminal: TerminalProcess,
  keys: number,
  press: (terminal: TerminalProcess, i: number) => Promise<void>,
): Promise<Took> {
  const startedAt = performance.now();
  const cpuBefore = cpuMs(terminal.pid) ?? 0;
  for (let i = 0; i < keys; i++) await press(terminal, i);
  const seen = (performance.now() - startedAt) / keys;
  return { seen, cpu: ((cpuMs(terminal.pid) ?? 0) - cpuBefore) / keys };
}

async function move(terminal: TerminalProcess, i: number): Promise<void> {
  const before = selectedIn(terminal.frame());
  terminal.press(i % 2 === 0 ? "\u001b[6~" : "k");
  await terminal.draws((frame) => selectedIn(frame) !== before);
}

/** Begins a search, types and ends it, by turns. */
async function search(terminal: TerminalProcess, i: number): Promise<void> {
  const [key, shown] = [
    ["/", /▏ {2}10000 found/],
    ["x", /\/x▏/],
    ["\u001b", /first$/m],
  ][i % 3] as [string, RegExp];
  terminal.press(key);
  await terminal.draws(shown);
}

async function restOf(terminal: TerminalProcess): Promise<number> {
  const before = cpuMs(terminal.pid) ?? 0;
  await Bun.sleep(REST_MS);
  return (((cpuMs(terminal.pid) ?? 0) - before) / REST_MS) * 100;
}

function selectedIn(frame: readonly string[]): string {
  return frame.find((line) => line.startsWith("❯")) ?? "";
}
