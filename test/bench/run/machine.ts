import { cpus, release, totalmem, type } from "node:os";
import { isPinned } from "./process.ts";

/** Where figures come from. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly bun: string;
  /** Whether servers and load have a core each. */
  readonly isPinned: boolean;
}

export function readMachine(): Machine {
  const cores = cpus();
  return {
    processor: cores[0]?.model.trim() ?? "unknown CPU",
    cores: cores.length,
    memoryGb: Math.round(totalmem() / 1e9),
    system: `${type()} ${release()}`,
    bun: Bun.version,
    isPinned,
  };
}

/** The same in one line. */
export function describeMachine(machine: Machine): string {
  const { processor, cores, memoryGb, system, bun } = machine;
  const placing = machine.isPinned ? "servers on core 0, load on core 1" : "processes not bound to cores";
  return `${processor}, ${cores} cores, ${memoryGb} GB, ${system}, Bun ${bun}; ${placing}`;
}
