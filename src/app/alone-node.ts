import { hostname } from "node:os";
import type { NodeStore } from "../domain/ports/node-store.ts";
import { VERSION } from "../version.ts";
import type { RequestDeps } from "./request-deps.ts";

/** The node if one process has the database to itself. */
export function aloneNode({
  clock,
  startedAt,
  drained,
}: Pick<RequestDeps, "clock" | "startedAt" | "drained">): NodeStore["all"] {
  return async () => {
    const now = clock.now();
    const self = { id: `${process.pid}`, name: hostname(), role: "all", version: VERSION } as const;
    return { nodes: [{ ...self, startedAt, seenAt: now, isDraining: drained.aborted }], now };
  };
}
