import type { AuditDepth, AuditOutcome } from "../domain/ports/audit.ts";
import type { DatabaseCheck } from "../domain/ports/database-check.ts";
import type { UsageQuery } from "../domain/ports/usage-store.ts";
import type { Reclaimable } from "../domain/reclaimable.ts";
import type { Stock } from "../domain/stock.ts";
import { createSystemClock, monotonicMs } from "../runtime/clock.ts";
import { openAudit } from "../store/audit.ts";
import { checkDatabase } from "../store/check.ts";
import { copyLog } from "../store/checkpoint.ts";
import type { UsagePages } from "../store/sqlite/usage-pages.ts";
import { readStock } from "../store/stock-reading.ts";
import { openUsageReading, type UsageRead } from "../store/usage-reading.ts";
import { giveWay } from "../toolkit/low-priority.ts";
import type { ReclaimOrder } from "./reclaimable.ts";

declare const self: Worker;

/** The questions about the books: whether they are right, the usage that they sum up, or how much of everything there is. */
export type BooksQuestion =
  | { readonly kind: "audit"; readonly depth: AuditDepth }
  | { readonly kind: "usage"; readonly query: UsageQuery }
  | { readonly kind: "stock" }
  /** Whether the database is sound. */
  | { readonly kind: "check" }
  /** Nothing: the log is to be copied into the database. */
  | { readonly kind: "copy" }
  /** What would free space on the disk. */
  | ({ readonly kind: "reclaimable" } & Pick<ReclaimOrder, "dataDir" | "assets">);

/** The question for the thread, and the database. */
export interface BooksOrder {
  readonly path: string;
  readonly question: BooksQuestion;
  /** What earlier answers said of pages. */
  readonly usagePages?: UsagePages | undefined;
}

export type BooksResult =
  | {
      readonly kind: "done";
      readonly answer: AuditOutcome | UsageRead | Stock | Reclaimable | DatabaseCheck | undefined;
    }
  | { readonly kind: "failed"; readonly message: string };

/** Requests come first. Sets the priority of this thread only, on systems where threads have priorities. */
const NICENESS = 10;

// Entry point of a thread that reads the books once. The statements take longer the more rows there are, and delay only this
// thread.
self.onmessage = async ({ data }: MessageEvent<BooksOrder>): Promise<void> => {
  giveWay(NICENESS);
  self.postMessage(await answer(data));
};

async function answer(order: BooksOrder): Promise<BooksResult> {
  try {
    return { kind: "done", answer: await read(order) };
  } catch (error) {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}

function read({
  path,
  question,
  usagePages,
}: BooksOrder): Promise<AuditOutcome | UsageRead | Reclaimable> | Stock | DatabaseCheck | undefined {
  switch (question.kind) {
    case "audit":
      return check(path, question.depth);
    case "usage":
      return sumUp(path, question.query, usagePages);
    case "stock":
      return readStock({ path });
    case "check":
      return checkDatabase({ path });
    case "copy":
      copyLog({ path });
      return undefined;
    case "reclaimable":
      return count(question);
  }
}

async function count(of: Pick<ReclaimOrder, "dataDir" | "assets">): Promise<Reclaimable> {
  // Only this question needs to know where providers keep files, and loading all providers takes more than the other questions
  // need.
  const { countReclaimable } = await import("./reclaimable.ts");
  return await countReclaimable({ ...of, now: createSystemClock().now(), isInUse: true }, resting());
}

/** Pauses nine times as long as it worked, because the caller is in no hurry and the disk has other work. */
function resting(): () => Promise<boolean> {
  let since = monotonicMs();
  return async () => {
    await Bun.sleep(9 * (monotonicMs() - since));
    since = monotonicMs();
    return true;
  };
}

async function check(path: string, depth: AuditDepth): Promise<AuditOutcome> {
  const audit = openAudit({ path });
  try {
    return await audit.examine(depth);
  } finally {
    audit.stop();
  }
}

async function sumUp(path: string, query: UsageQuery, kept: UsagePages | undefined): Promise<UsageRead> {
  const reading = openUsageReading({ path });
  try {
    return await reading.report(query, kept);
  } finally {
    reading.stop();
  }
}
