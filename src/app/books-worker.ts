import { setPriority } from "node:os";
import type { AuditReport } from "../domain/ports/audit.ts";
import type { UsageLine, UsageQuery } from "../domain/ports/usage-store.ts";
import { openAudit } from "../store/audit.ts";
import { openUsageReading } from "../store/usage-reading.ts";

declare const self: Worker;

/** What the thread is asked to read of the books in this database: whether they are right, or the usage that they sum up. */
export interface BooksOrder {
  readonly path: string;
  /** A check unless given. */
  readonly usage?: UsageQuery | undefined;
}

export type BooksResult =
  | { readonly kind: "done"; readonly answer: AuditReport | UsageLine[] }
  | { readonly kind: "failed"; readonly message: string };

/** Requests come first. Applies to this thread alone, where the system has priorities of threads. */
const PRIORITY = 10;

// Entry point of a thread that reads the books once: the statements take as long as there are rows, and hold up only it.
self.onmessage = async ({ data }: MessageEvent<BooksOrder>): Promise<void> => {
  if (process.platform === "linux") setPriority(0, PRIORITY);
  self.postMessage(await answer(data));
};

async function answer({ path, usage }: BooksOrder): Promise<BooksResult> {
  try {
    return { kind: "done", answer: await (usage === undefined ? check(path) : sumUp(path, usage)) };
  } catch (error) {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}

async function check(path: string): Promise<AuditReport> {
  const audit = openAudit({ path });
  try {
    return await audit.run();
  } finally {
    audit.stop();
  }
}

async function sumUp(path: string, query: UsageQuery): Promise<UsageLine[]> {
  const reading = openUsageReading({ path });
  try {
    return await reading.report(query);
  } finally {
    reading.stop();
  }
}
