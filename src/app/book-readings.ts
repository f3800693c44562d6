import { AppError } from "../domain/errors.ts";
import type { AuditReport } from "../domain/ports/audit.ts";
import type { UsageLine, UsageQuery, UsageStore } from "../domain/ports/usage-store.ts";
import type { BooksOrder, BooksResult } from "./books-worker.ts";
import { workerEntry } from "./worker-entry.ts";

/**
 * Reads the books of the database that the server writes to, which takes as long as there are rows. Whoever asks what is being read
 * already gets the same answer. All throw AppError `service_unavailable` when the service stops meanwhile.
 */
export interface BookReadings extends Pick<UsageStore, "report"> {
  /** Checks the books. */
  run(): Promise<AuditReport>;
  stop(): void;
}

interface Reading<Answer> {
  readonly answer: Promise<Answer>;
  stop(): void;
}

/** Each reading runs in a thread of its own with a connection of its own, so that it holds up neither requests nor writes. */
export function createBookReadings({ path }: Pick<BooksOrder, "path">): BookReadings {
  const running = new Map<string, Reading<unknown>>();

  function read<Answer>(usage?: UsageQuery): Promise<Answer> {
    const question = JSON.stringify(usage ?? "audit");
    // Safe: the same question has an answer of the same type.
    const known = running.get(question) as Reading<Answer> | undefined;
    const reading = known ?? begin<Answer>({ path, usage }, () => running.delete(question));
    running.set(question, reading);
    return reading.answer;
  }

  return {
    run: () => read<AuditReport>(),
    report: (query) => read<UsageLine[]>(query),
    stop(): void {
      for (const reading of running.values()) reading.stop();
    },
  };
}

function begin<Answer>(order: BooksOrder, onEnd: () => void): Reading<Answer> {
  const worker = new Worker(workerEntry("books-worker.ts"), { name: "books" });
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const end = (settle: () => void) => {
    onEnd();
    worker.terminate();
    settle();
  };
  worker.addEventListener("message", ({ data }: MessageEvent<BooksResult>) =>
    // Safe: the thread answers what it was asked.
    end(() => (data.kind === "done" ? resolve(data.answer as Answer) : reject(new Error(data.message)))),
  );
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    end(() => reject(new Error(`The thread that reads the books broke: ${event.message}`)));
  });
  worker.postMessage(order);
  // Whoever waits is told; where nobody waits any more, nobody needs to be.
  promise.catch(() => undefined);
  return {
    answer: promise,
    stop: () => end(() => reject(new AppError("service_unavailable", { kind: "draining" }))),
  };
}
