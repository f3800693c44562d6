import type { LoadGenerator } from "../load/generator.ts";
import type { Measurement } from "../run/report.ts";
import type { DataFolder } from "../run/service.ts";

export interface BenchContext {
  /** A folder of this bench's own, removed afterwards. */
  readonly workspace: string;
  /** A folder that all benches of this process share. */
  readonly shared: string;
  /** A folder with both accounts and one completed task; only to be copied. */
  readonly folder: DataFolder;
  readonly template: string;
  readonly load: LoadGenerator;
  readonly rounds: number;
  /** Shrinks a number of requests or tasks for a quick run. */
  readonly scaled: (count: number) => number;
}

export type Bench = (context: BenchContext) => Promise<Measurement[]>;

/** Clients that send at once. */
export const CLIENTS = 64;
