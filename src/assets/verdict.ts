import { MediaError } from "../domain/ports/asset-store.ts";
import { StorageError } from "../domain/ports/task-store.ts";
import { giveWay } from "../toolkit/low-priority.ts";

/** What a thread says of a file that it has read. */
export type Verdict<Found> =
  | { readonly kind: "found"; readonly found: Found }
  | { readonly kind: "refused"; readonly reason: MediaError["reason"]; readonly message: string }
  | { readonly kind: "unstored"; readonly problem: StorageError["kind"]; readonly message: string };

/** Requests come first. Applies to this thread alone, where the system has priorities of threads. */
const NICENESS = 5;

/** Reads a file in a thread that is there for this file alone. @throws what is neither a refusal nor the storage's fault */
export async function verdictOf<Found>(read: () => Found | Promise<Found>): Promise<Verdict<Found>> {
  giveWay(NICENESS);
  try {
    return { kind: "found", found: await read() };
  } catch (error) {
    if (error instanceof MediaError) return { kind: "refused", reason: error.reason, message: error.message };
    if (error instanceof StorageError)
      return { kind: "unstored", problem: error.kind, message: error.message };
    throw error;
  }
}
