import { cpus, release, totalmem, type } from "node:os";
import { isPinned } from "./process.ts";

/** One line that says where the figures come from. */
export function describeMachine(): string {
  const cores = cpus();
  const model = cores[0]?.model.trim() ?? "unknown CPU";
  const memoryGb = Math.round(totalmem() / 1e9);
  const placing = isPinned ? "servers on core 0, load on core 1" : "processes not bound to cores";
  return `${model}, ${cores.length} cores, ${memoryGb} GB, ${type()} ${release()}, Bun ${Bun.version}; ${placing}`;
}
