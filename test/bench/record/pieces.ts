import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "../run/machine.ts";
import type { BenchRun } from "./record.ts";

/** The benches of a record that were measured so far, a file each. */
export interface Pieces {
  /** @returns undefined when none was kept of these sources on this machine */
  read(bench: string): BenchRun | undefined;
  keep(run: BenchRun): void;
}

interface Piece {
  readonly machine: Machine;
  readonly run: BenchRun;
}

/** @param sources hash of what is measured, which the form of these files belongs to */
export function openPieces(root: string, sources: string, machine: Machine): Pieces {
  const folder = join(root, ".cache/bench/record", sources);
  const fileOf = (bench: string) => join(folder, `${bench}.json`);
  return {
    read(bench) {
      const file = fileOf(bench);
      if (!existsSync(file)) return undefined;
      // Nothing but `keep` writes it.
      const piece = JSON.parse(readFileSync(file, "utf8")) as Piece;
      return Bun.deepEquals(piece.machine, machine) ? piece.run : undefined;
    },
    keep(run) {
      mkdirSync(folder, { recursive: true });
      const [file, unfinished] = [fileOf(run.bench), `${fileOf(run.bench)}.tmp`];
      const piece: Piece = { machine, run };
      writeFileSync(unfinished, `${JSON.stringify(piece, undefined, 1)}\n`);
      renameSync(unfinished, file);
    },
  };
}
