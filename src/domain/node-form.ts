import type { JsonObject } from "./json.ts";
import { GONE_AFTER_MS, type Node } from "./ports/node-store.ts";

/** `draining` it takes no new tasks · `gone` it ended without notice or is cut off, and others have taken over its work. */
export const NODE_STATES = ["working", "draining", "gone"] as const;

/** @param now the time of the clock that wrote the node's times */
function nodeState({ seenAt, isDraining }: Node, now: number): (typeof NODE_STATES)[number] {
  if (now - seenAt >= GONE_AFTER_MS) return "gone";
  return isDraining ? "draining" : "working";
}

/** A node as the API and `--json` show it. Times are Unix seconds. */
export function nodeForm(node: Node, now: number): JsonObject {
  const { id, name, role, version, startedAt, seenAt } = node;
  return {
    ...{ id, name, role, version, state: nodeState(node, now) },
    started_at: Math.floor(startedAt / 1000),
    seen_at: Math.floor(seenAt / 1000),
  };
}
