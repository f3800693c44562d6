import type { NewSeal } from "./audit.ts";

/** Seals of pages that an audit has verified. */
export interface SealStore {
  /** Stores seals, but of pages whose rows retention has changed since they were read. @throws StorageError where nothing can be written */
  keep(seals: readonly NewSeal[]): Promise<void>;
}
