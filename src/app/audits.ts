import { AppError } from "../domain/errors.ts";
import type { AuditReport } from "../domain/ports/audit.ts";
import type { AuditOrder, AuditResult } from "./audit-worker.ts";
import { workerEntry } from "./worker-entry.ts";

/** Checks the books of the database that the server writes to. */
export interface Audits {
  /** Whoever asks while a check runs gets its report. @throws AppError `service_unavailable` when the service stops meanwhile */
  run(): Promise<AuditReport>;
  stop(): void;
}

/** Each check runs in a thread of its own with a connection of its own, so that it holds up neither requests nor writes. */
export function createAudits({ path }: AuditOrder): Audits {
  let running: { readonly report: Promise<AuditReport>; stop(): void } | undefined;
  return {
    run() {
      running ??= begin({ path }, () => {
        running = undefined;
      });
      return running.report;
    },
    stop: () => running?.stop(),
  };
}

function begin(order: AuditOrder, onEnd: () => void) {
  const worker = new Worker(workerEntry("audit-worker.ts"), { name: "audit" });
  const { promise, resolve, reject } = Promise.withResolvers<AuditReport>();
  const end = (settle: () => void) => {
    onEnd();
    worker.terminate();
    settle();
  };
  worker.addEventListener("message", ({ data }: MessageEvent<AuditResult>) =>
    end(() => (data.kind === "done" ? resolve(data.report) : reject(new Error(data.message)))),
  );
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    end(() => reject(new Error(`The audit's thread broke: ${event.message}`)));
  });
  worker.postMessage(order);
  // Whoever waits is told; where nobody waits any more, nobody needs to be.
  promise.catch(() => undefined);
  return {
    report: promise,
    stop: () => end(() => reject(new AppError("service_unavailable", { kind: "draining" }))),
  };
}
