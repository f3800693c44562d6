import { AppError } from "../domain/errors.ts";
import type { AuditDepth, AuditOutcome, AuditReport } from "../domain/ports/audit.ts";
import type { DatabaseCheck } from "../domain/ports/database-check.ts";
import type { SealStore } from "../domain/ports/seal-store.ts";
import type { UsageStore } from "../domain/ports/usage-store.ts";
import type { Reclaimable } from "../domain/reclaimable.ts";
import type { Stock } from "../domain/stock.ts";
import { monotonicMs } from "../runtime/clock.ts";
import type { UsagePages } from "../store/sqlite/usage-pages.ts";
import type { UsageRead } from "../store/usage-reading.ts";
import type { BooksOrder, BooksQuestion, BooksResult } from "./books-worker.ts";
import { createUsageReports } from "./usage-reports.ts";
import { workerEntry } from "./worker-entry.ts";

/**
 * Reads the books of the database that the server writes to, which takes as long as there are rows. A caller that asks for
 * something already being read gets the same answer. Two questions are read at a time; others wait for their turn, in reports of usage
 * that of their account, and for up to a second where one has just been read. All throw AppError `service_unavailable` when the service stops meanwhile.
 */
export interface BookReadings extends Pick<UsageStore, "report"> {
  /** Checks the books, and stores seals for what is right. @param depth `checksums` unless given */
  run(depth?: AuditDepth): Promise<AuditReport>;
  /** Counts the stored data. Waits for nothing else. */
  stock(): Promise<Stock>;
  /** Reads the whole database and says whether it is sound. */
  check(): Promise<DatabaseCheck>;
  /** Counts what would free space on the disk. Waits for nothing else. */
  reclaimable(folders: { readonly dataDir: string; readonly assets: string }): Promise<Reclaimable>;
  stop(): void;
}

/** Each thread takes part of the processors and of the disk from requests, and the memory of a connection. */
const SLOTS = 2;
/** A slot rests after a reading, for so many times as long as that took: who asks over and over takes a part of a processor. */
const REST = 3;
const LONGEST_REST_MS = 1_000;

interface Reading<Answer> {
  readonly answer: Promise<Answer>;
  start(): void;
  stop(): void;
}

interface BookReadingsOrder extends Pick<BooksOrder, "path"> {
  /** Stores the seals of an audit; it does not fail. */
  readonly keepSeals: SealStore["keep"];
}

/** Each reading runs in a thread and on a connection of its own, so it delays neither requests nor writes. */
export function createBookReadings({ path, keepSeals }: BookReadingsOrder): BookReadings {
  const asked = createLine(path, SLOTS);
  const scraped = createLine(path, 1);
  const counted = createLine(path, 1);
  const report = createUsageReports(SLOTS, {
    read: (query, { pages }) => asked.read<UsageRead>({ kind: "usage", query }, pages),
  });
  return {
    async run(depth = "checksums") {
      const { report, seals } = await asked.read<AuditOutcome>({ kind: "audit", depth });
      await keepSeals(seals);
      return report;
    },
    report,
    stock: () => scraped.read<Stock>({ kind: "stock" }),
    check: () => asked.read<DatabaseCheck>({ kind: "check" }),
    reclaimable: ({ dataDir, assets }) => counted.read<Reclaimable>({ kind: "reclaimable", dataDir, assets }),
    stop(): void {
      asked.stop();
      scraped.stop();
      counted.stop();
    },
  };
}

/** Copies the write-ahead log of a database in a thread, as far as no reader is in the way. @throws Error when it cannot */
export async function copyLogAside(path: string): Promise<void> {
  const copying = prepare<undefined>({ path, question: { kind: "copy" } }, () => {});
  copying.start();
  await copying.answer;
}

/** Reads as many at one time as there are slots, in the order in which they were asked. */
function createLine(path: string, slots: number) {
  /** By question, in the order of the calls: first those under way, then those that wait. */
  const readings = new Map<string, Reading<unknown>>();
  const resting = new Set<ReturnType<typeof setTimeout>>();
  let isStopped = false;

  /** @param usagePages called when it is begun */
  function read<Answer>(question: BooksQuestion, usagePages?: () => UsagePages): Promise<Answer> {
    const name = JSON.stringify(question);
    // Safe: the same question has an answer of the same type.
    const known = readings.get(name) as Reading<Answer> | undefined;
    if (known !== undefined) return known.answer;
    if (isStopped) return Promise.reject(stopping());
    const reading = prepare<Answer>({ path, question, usagePages }, (tookMs) => {
      readings.delete(name);
      rest(Math.min(REST * tookMs, LONGEST_REST_MS));
      startFirst();
    });
    readings.set(name, reading);
    startFirst();
    return reading.answer;
  }

  function startFirst(): void {
    for (const reading of readings.values().take(slots - resting.size)) reading.start();
  }

  function rest(forMs: number): void {
    if (isStopped || forMs === 0) return;
    const timer = setTimeout(() => {
      resting.delete(timer);
      startFirst();
    }, forMs);
    resting.add(timer);
  }

  return {
    read,
    stop(): void {
      isStopped = true;
      for (const timer of resting) clearTimeout(timer);
      // The last one is removed first, so that no waiting one starts in the place of another that ends.
      for (const reading of [...readings.values()].reverse()) reading.stop();
    },
  };
}

interface LaterOrder extends Omit<BooksOrder, "usagePages"> {
  readonly usagePages?: (() => UsagePages) | undefined;
}

/** A reading that has not begun. @param onEnd called once, before the answer, with how long it was read */
function prepare<Answer>(
  { usagePages, ...order }: LaterOrder,
  onEnd: (tookMs: number) => void,
): Reading<Answer> {
  let worker: Worker | undefined;
  let beganAt: number | undefined;
  let isOver = false;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const end = (settle: () => void) => {
    if (isOver) return;
    isOver = true;
    worker?.terminate();
    onEnd(beganAt === undefined ? 0 : monotonicMs() - beganAt);
    settle();
  };
  const fail = (reason: string) =>
    end(() => reject(new Error(`The thread that reads the books broke: ${reason}`)));

  function start(): void {
    if (worker !== undefined) return;
    beganAt = monotonicMs();
    worker = new Worker(workerEntry("books-worker.ts"), { name: "books" });
    worker.addEventListener("message", ({ data }: MessageEvent<BooksResult>) =>
      // Safe: the thread answers what it was asked.
      end(() => (data.kind === "done" ? resolve(data.answer as Answer) : reject(new Error(data.message)))),
    );
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      fail(event.message);
    });
    // The thread ended without a message, for example for lack of memory.
    worker.addEventListener("close", () => fail("it ended without an answer"));
    worker.postMessage({ ...order, usagePages: usagePages?.() } satisfies BooksOrder);
  }

  // Waiting callers get the error; if nobody waits any more, nobody needs it.
  promise.catch(() => undefined);
  return { answer: promise, start, stop: () => end(() => reject(stopping())) };
}

function stopping(): AppError {
  return new AppError("service_unavailable", { kind: "draining" });
}
