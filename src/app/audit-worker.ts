import { setPriority } from "node:os";
import type { AuditReport } from "../domain/ports/audit.ts";
import { openAudit } from "../store/audit.ts";

declare const self: Worker;

/** What the thread is asked: to check the books in this database. */
export interface AuditOrder {
  readonly path: string;
}

export type AuditResult =
  | { readonly kind: "done"; readonly report: AuditReport }
  | { readonly kind: "failed"; readonly message: string };

/** Requests come first. Applies to this thread alone, where the system has priorities of threads. */
const PRIORITY = 10;

// Entry point of a thread that checks the books once: the statements take as long as there are rows, and hold up only it.
self.onmessage = async ({ data }: MessageEvent<AuditOrder>): Promise<void> => {
  if (process.platform === "linux") setPriority(0, PRIORITY);
  self.postMessage(await check(data));
};

async function check({ path }: AuditOrder): Promise<AuditResult> {
  try {
    const audit = openAudit({ path });
    try {
      return { kind: "done", report: await audit.run() };
    } finally {
      audit.stop();
    }
  } catch (error) {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}
