import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { Visit } from "../../console/support/browser.ts";
import { memoryMb } from "../run/process.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { seedFinishedTasks } from "../run/seed.ts";
import { copyDataFolder, createTask, type Service, startService, TINY } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench, BenchContext } from "./bench.ts";
import { COUNT, GATHER, SCREEN_READY, SCROLL, WATCH } from "./console-page.ts";

const TASKS = 100_000;
/** How long is scrolled, at a full run and at a quick one. */
const SCROLL_MS = 600_000;
/** How long the processor time of tasks is looked at: the browser writes all of them down. */
const TRACED_MS = 20_000;
/** Between two looks at the memory. */
const LOOK_MS = 30_000;
/** Between two tasks that are made meanwhile, so that the lists change under the reader. */
const MAKE_MS = 2_000;
/** A service without visitors is looked at after it has come to rest. */
const SETTLE_MS = 3_000;

const LISTS = [
  { screen: "gallery", rows: "main li[aria-setsize]" },
  { screen: "tasks", rows: "main tr[aria-rowindex]" },
] as const;

/**
 * The console in a browser, with a hundred thousand tasks: how long it takes to come, the longest task of its thread while the lists are
 * read to their ends and scrolled, and what memory that takes; and what the console costs a service that nobody visits.
 */
export const consoleBench: Bench = async (context) => {
  // Loaded late: other benches need no browser.
  const { CHROMIUM, launchBrowser, visit } = await import("../../console/support/browser.ts");
  if (CHROMIUM === undefined) {
    process.stderr.write(" skipped, for there is no chromium");
    return [];
  }
  await using resources = new Resources();
  const folder = copyDataFolder(context.folder, join(context.workspace, "svc"));
  seedFinishedTasks(folder.database, { template: context.template, count: TASKS, sample: 1 });
  const service = await resources.open(startService(folder, { core: "any" }));
  const browser = await launchBrowser();
  try {
    const url = `http://127.0.0.1:${service.port}`;
    const open = async (): Promise<Visit> => {
      const at = await visit(browser, url);
      await at.signIn(folder.unlimitedKey);
      return at;
    };
    return [
      ...(await measureStart(context, { browser, open, url })),
      ...(await measureLists(context, service, { browser, open, url })),
      ...(await measureIdle(context)),
    ];
  } finally {
    await browser.close();
  }
};

interface Opening {
  readonly browser: Browser;
  readonly open: () => Promise<Visit>;
  readonly url: string;
}

/** From the request for the page until the form can be typed into, without and with the browser's cache. */
async function measureStart({ rounds }: BenchContext, { open, url }: Opening): Promise<Measurement[]> {
  await using at = await open();
  const { page } = at;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  const timed = async (isCached: boolean): Promise<{ ms: number; scriptKb: number }> => {
    await devtools.send("Network.setCacheDisabled", { cacheDisabled: !isCached });
    let scriptKb = 0;
    const count = ({ encodedDataLength }: { readonly encodedDataLength: number }) => {
      scriptKb += encodedDataLength / 1000;
    };
    devtools.on("Network.loadingFinished", count);
    await page.goto(`${url}/console/playground?model=sandbox-image`);
    const ms = await page.evaluate<number>(SCREEN_READY);
    devtools.off("Network.loadingFinished", count);
    return { ms, scriptKb };
  };
  await timed(true);
  const { cold, warm } = await interleave(rounds, { cold: () => timed(false), warm: () => timed(true) });
  const target = { kind: "most", value: 300 } as const;
  return [
    measurement({
      ...{
        name: "console, until the playground is usable",
        unit: "ms",
        values: cold.map(({ ms }) => ms),
        target,
      },
      note: "nothing in the browser's cache",
    }),
    measurement({
      ...{ name: "  the same, all that it loads", unit: "KB", values: cold.map(({ scriptKb }) => scriptKb) },
      note: "scripts, styles and answers, as they come over the wire",
    }),
    measurement({ name: "  the same, with a cache", unit: "ms", values: warm.map(({ ms }) => ms), target }),
  ];
}

async function measureLists(
  context: BenchContext,
  service: Service,
  { browser, open }: Opening,
): Promise<Measurement[]> {
  const found: Measurement[] = [];
  for (const { screen, rows } of LISTS) {
    await using at = await open();
    await at.open(screen);
    await at.page.locator(rows).first().waitFor();
    await at.page.evaluate(WATCH);
    const readMs = await readToTheEnd(at.page, rows);
    const reading = await at.page.evaluate<Longest>(GATHER);
    const memory: number[] = [];
    const until = performance.now() + context.scaled(SCROLL_MS) / 2;
    const nodes: number[] = [];
    let made = 0;
    const maker = setInterval(() => {
      made += 1;
      void createTask(service, TINY);
    }, MAKE_MS);
    try {
      do {
        await at.page.evaluate(`(${SCROLL})(${Math.min(LOOK_MS, until - performance.now())})`);
        const { heapMb, nodeCount } = await memoryOf(at.page);
        memory.push(heapMb);
        nodes.push(nodeCount);
      } while (performance.now() < until);
    } finally {
      clearInterval(maker);
    }
    const scrolling = await at.page.evaluate<Longest>(GATHER);
    const scroll = () => at.page.evaluate(`(${SCROLL})(${TRACED_MS})`);
    const longestCpuMs = await longestTaskMs(browser, at.page, scroll);
    found.push(
      ...listMeasurements(screen, { readMs, reading, scrolling, longestCpuMs, memory, nodes, made }),
    );
  }
  return found;
}

/** Tasks of the page's thread that took longer than 50 ms: how many, and the longest of all. */
interface Longest {
  readonly count: number;
  readonly longestMs: number;
  readonly frames: number;
}

interface Scrolled {
  readonly readMs: number;
  readonly reading: Longest;
  readonly scrolling: Longest;
  readonly longestCpuMs: number;
  readonly memory: readonly number[];
  readonly nodes: readonly number[];
  readonly made: number;
}

function listMeasurements(screen: string, found: Scrolled): Measurement[] {
  const { readMs, reading, scrolling, longestCpuMs, memory, nodes, made } = found;
  const target = { kind: "most", value: 50 } as const;
  const longest = (name: string, { count, longestMs, frames }: Longest) =>
    measurement({
      ...{ name, unit: "ms", values: [longestMs], target },
      note: `${count} tasks over 50 ms in ${frames} frames, waiting for the processor included`,
    });
  const first = memory[0] ?? Number.NaN;
  return [
    longest(`console, ${screen} of 100,000, longest task: reading to the end`, reading),
    longest(`console, ${screen} of 100,000, longest task: scrolling`, scrolling),
    measurement({
      ...{ name: "  the same, processor time", unit: "ms", values: [longestCpuMs], target },
      note: `in ${TRACED_MS / 1000} s`,
    }),
    measurement({
      ...{
        name: `console, ${screen} of 100,000, memory at the end`,
        unit: "MB",
        values: [memory.at(-1) ?? first],
      },
      baseline: { name: "itself, when all was read", values: [first] },
      target: { kind: "mostRatio", value: 1.1 },
      note: `after a collection; read to the end in ${(readMs / 1000).toFixed(0)} s; ${made} tasks came meanwhile; at most ${Math.max(...nodes)} nodes`,
    }),
  ];
}

/** Scrolls to the end until there is no more. @returns how long it took */
async function readToTheEnd(page: Page, rows: string): Promise<number> {
  const startedAt = performance.now();
  for (let last = 0; ; ) {
    const now = await page.evaluate<number>(`(${COUNT})("${rows}")`);
    if (now >= TASKS && now === last) return performance.now() - startedAt;
    last = now;
  }
}

/** An event of the browser's trace, as much of it as is looked at. Source: the Trace Event Format, by the Chromium authors. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Processor time in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The longest task of the page's thread while `work` runs, by the processor time that it took. */
async function longestTaskMs(browser: Browser, page: Page, work: () => Promise<unknown>): Promise<number> {
  await browser.startTracing(page, { categories: ["toplevel"] });
  await work();
  // The browser wrote it.
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(threadOf),
  );
  const tasks = traceEvents.filter((event) => event.name.endsWith("RunTask") && mains.has(threadOf(event)));
  return tasks.reduce((longest, { tdur = 0 }) => Math.max(longest, tdur / 1000), 0);
}

async function memoryOf(page: Page): Promise<{ heapMb: number; nodeCount: number }> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  await devtools.send("Performance.enable");
  const { metrics } = await devtools.send("Performance.getMetrics");
  await devtools.detach();
  const of = (name: string) => metrics.find((each) => each.name === name)?.value ?? Number.NaN;
  return { heapMb: of("JSHeapUsedSize") / 1e6, nodeCount: of("Nodes") };
}

/** A service that nobody visits, with the console and without it. */
async function measureIdle(context: BenchContext): Promise<Measurement[]> {
  const folder = copyDataFolder(context.folder, join(context.workspace, "idle"));
  const idle = async (env: Readonly<Record<string, string>>): Promise<number> => {
    await using resources = new Resources();
    const service = await resources.open(startService(folder, { env }));
    await Bun.sleep(SETTLE_MS);
    return memoryMb(service.pid)?.now ?? Number.NaN;
  };
  const { on, off } = await interleave(context.rounds, {
    on: () => idle({}),
    off: () => idle({ SVC_CONSOLE: "off" }),
  });
  return [
    measurement({
      ...{ name: "console, memory of a service without visitors", unit: "MB", values: on },
      baseline: { name: "console: off", values: off },
      target: { kind: "mostRatio", value: 1.05 },
    }),
  ];
}
