import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Previews } from "../../domain/ports/provider.ts";
import type { Prompt } from "./prompt.ts";

/** The work of a node that samples, relative to any other node. */
const HEAVY = 20;

/** What the events of a server say about a prompt. */
export interface Progress {
  /** @returns whether it is one that says something of the prompt */
  event(type: string, data: JsonObject): boolean;
  /** Percent, which never falls; undefined before anything was told. */
  percent(): number | undefined;
  /** Passes a picture of what is being sampled on, if it is time for one. */
  picture(bytes: Uint8Array, previews: Previews): void;
}

/** Computes the progress of a prompt, because its server reports only nodes. */
export function createProgress({ nodes, heavy }: Pick<Prompt, "nodes" | "heavy">): Progress {
  const all = Math.max(1, nodes - heavy.size + heavy.size * HEAVY);
  const done = new Set<string>();
  let current: { readonly node: string; readonly part: number } | undefined;
  let best: number | undefined;
  let shown = -1;

  const workOf = (node: string) => (heavy.has(node) ? HEAVY : 1);
  const update = () => {
    const finished = [...done].reduce((sum, node) => sum + workOf(node), 0);
    const begun = current === undefined || done.has(current.node) ? 0 : workOf(current.node) * current.part;
    best = Math.max(best ?? 0, Math.min(99, Math.floor((100 * (finished + begun)) / all)));
  };
  const begin = (node: string, part = 0) => {
    if (current !== undefined && current.node !== node) done.add(current.node);
    current = { node, part };
  };

  return {
    percent: () => best,
    event(type, data) {
      const node = idOf(data.node);
      if (type === "execution_cached")
        for (const id of Array.isArray(data.nodes) ? data.nodes : []) done.add(String(id));
      else if (type === "executing" && node !== undefined) begin(node);
      else if (type === "executed" && node !== undefined) done.add(node);
      else if (type === "progress" && node !== undefined) begin(node, partOf(data));
      else if (type === "progress_state") takeStates(data.nodes);
      else if (type !== "execution_start") return false;
      update();
      return true;
    },
    picture(bytes, previews) {
      const { wanted } = previews;
      const index = Math.floor((current?.part ?? 0) * (wanted + 1)) - 1;
      if (index <= shown || index >= wanted || !previews.isWatched()) return;
      shown = index;
      previews.show({ index, bytes });
    },
  };

  /** All nodes that have begun, each with its own progress. Those of a group count as the group. */
  function takeStates(states: Json | undefined): void {
    for (const [id, state] of Object.entries(isJsonObject(states) ? states : {})) {
      if (!isJsonObject(state)) continue;
      const node = idOf(state.display_node_id) ?? id;
      if (state.state === "finished") done.add(node);
      else if (state.state === "running") current = { node, part: partOf(state) };
    }
  }
}

function idOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function partOf({ value, max }: JsonObject): number {
  if (typeof value !== "number" || typeof max !== "number" || !(max > 0)) return 0;
  return Math.min(1, Math.max(0, value / max));
}
