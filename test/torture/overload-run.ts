import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Api, createApi } from "../e2e/support/api.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { quantile } from "./quantile.ts";

/** What must hold while five times as much is asked for as can be made. */
export const PROMISES = { goodput: 0.9, statusP99Ms: 50, recoveryMs: 5_000 } as const;

export interface OverloadOptions {
  /** How long more is asked for than can be made. */
  readonly seconds: number;
  readonly times: number;
}

export interface Overload {
  /** Tasks completed in a second while as many waited as could. */
  readonly peakPerSecond: number;
  /** The same during the overload. */
  readonly goodPerSecond: number;
  readonly asked: number;
  readonly accepted: number;
  readonly refused: number;
  /** Refusals without a `Retry-After`, and answers that are neither taken nor refused. */
  readonly wrong: number;
  readonly retryAfterSec: readonly [least: number, most: number];
  readonly statuses: number;
  readonly statusP50Ms: number;
  readonly statusP99Ms: number;
  /** From the end of the overload until creates at half the sustainable pace were taken for two seconds on end. */
  readonly recoveryMs: number;
}

/** Few enough that drawing takes little of a core: what is overloaded is the provider's account. */
const [AT_ONCE, EACH_MS] = [4, 100];
const TASK = { model: "sandbox-image", prompt: "x", size: "1x1", sandbox: { delay_ms: EACH_MS } };
const PEAK_SECONDS = 6;
const STATUS_EVERY_MS = 40;
const RECOVERED_MS = 2_000;

/** Starts a server, finds how much it makes, asks for several times as much, and then for half. */
export async function runOverload({ seconds, times }: OverloadOptions): Promise<Overload> {
  const limits = ["--sandbox-concurrency", String(AT_ONCE), "--shed-queue-seconds", "2"];
  const server = await startServer({ args: [...limits, "--log-level", "warn"] });
  const api = createApi(server.url, server.firstKey());
  try {
    const peakPerSecond = await measurePeak(server, api);
    const tally = createTally();
    const watching = new AbortController();
    const watched = watchStatuses(api, tally, watching.signal);
    const from = Date.now();
    await ask(api, tally, { perSecond: peakPerSecond * times, seconds });
    const goodPerSecond = completed(server, from, Date.now()) / ((Date.now() - from) / 1000);
    const recoveryMs = await recover(api, peakPerSecond / 2);
    watching.abort();
    await watched;
    const sorted = tally.statusMs.toSorted((a, b) => a - b);
    return {
      ...{ peakPerSecond, goodPerSecond, recoveryMs },
      ...{
        asked: tally.asked,
        accepted: tally.ids.length,
        refused: tally.retryAfter.length,
        wrong: tally.wrong,
      },
      retryAfterSec: [Math.min(...tally.retryAfter), Math.max(...tally.retryAfter)],
      statuses: sorted.length,
      statusP50Ms: quantile(sorted, 0.5),
      statusP99Ms: quantile(sorted, 0.99),
    };
  } finally {
    server.signal("SIGKILL");
    await server.exited;
  }
}

function createTally() {
  return { asked: 0, wrong: 0, ids: [] as string[], retryAfter: [] as number[], statusMs: [] as number[] };
}
type Tally = ReturnType<typeof createTally>;

/** How many tasks are completed in a second while as many are under way and wait as the limits let. */
async function measurePeak(server: Server, api: Api): Promise<number> {
  const from = Date.now();
  const until = from + PEAK_SECONDS * 1000;
  const client = async () => {
    while (Date.now() < until) {
      const { data } = await api.create(TASK);
      await api.send(`/v1/images/status/${data.task_id}?wait=10`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE * 4 }, client));
  // The first second has the compilation of everything.
  return completed(server, from + 1_000, until) / (PEAK_SECONDS - 1);
}

function completed({ dataDir }: Server, from: number, to: number): number {
  using db = new Database(join(dataDir, "svc.db"), { readonly: true });
  const row = db
    .query<{ count: number }, [number, number]>(
      "select count(*) as count from task where status = 'completed' and completed_at between ? and ?",
    )
    .get(from, to);
  return row?.count ?? 0;
}

/** Sends creates at a pace, whatever becomes of those before. */
async function ask(api: Api, tally: Tally, { perSecond, seconds }: { perSecond: number; seconds: number }) {
  const all: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let due = 0; due < seconds * 1000; due += 1000 / perSecond) {
    const earlyMs = startedAt + due - performance.now();
    if (earlyMs > 1) await Bun.sleep(earlyMs);
    tally.asked += 1;
    all.push(api.create(TASK).then((answer) => note(tally, answer)));
  }
  await Promise.all(all);
}

function note(tally: Tally, { status, headers, data }: Awaited<ReturnType<Api["create"]>>): void {
  const retryAfter = Number(headers.get("retry-after"));
  if (status === 200) tally.ids.push(data.task_id ?? "");
  else if (status === 503 && retryAfter > 0) tally.retryAfter.push(retryAfter);
  else tally.wrong += 1;
}

/** Reads statuses of accepted tasks at a steady pace, the latest and the first in turn. */
async function watchStatuses(api: Api, tally: Tally, signal: AbortSignal): Promise<void> {
  const all: Promise<void>[] = [];
  for (let i = 0; !signal.aborted; i++) {
    await Bun.sleep(STATUS_EVERY_MS);
    const id = tally.ids.at(i % 2 === 0 ? -1 : i % tally.ids.length);
    if (id === undefined) continue;
    const startedAt = performance.now();
    const read = api.send(`/v1/images/status/${id}`).then(({ status }) => {
      tally.statusMs.push(performance.now() - startedAt);
      if (status !== 200) tally.wrong += 1;
    });
    all.push(read);
  }
  await Promise.all(all);
}

/** @returns milliseconds until creates were taken for a while on end */
async function recover(api: Api, perSecond: number): Promise<number> {
  const endedAt = performance.now();
  let takenSince: number | undefined;
  for (;;) {
    const now = performance.now();
    const { status } = await api.create(TASK);
    if (status !== 200) takenSince = undefined;
    else takenSince ??= now;
    if (takenSince !== undefined && now - takenSince >= RECOVERED_MS) return takenSince - endedAt;
    if (now - endedAt > 2 * PROMISES.recoveryMs) return Number.POSITIVE_INFINITY;
    await Bun.sleep(1000 / perSecond);
  }
}
