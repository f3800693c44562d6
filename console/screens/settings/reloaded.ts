import type { Schemas } from "../../api/published.d.ts";

export type Reloaded = Schemas["ReloadedSettings"];

/** What came of a reload, in a sentence. */
export function verdictOn({ in_force, changed, restart }: Reloaded): string {
  if (!in_force) return "The settings cannot be used. Those of before stay in force.";
  if (changed.length + restart.length === 0) return "The settings were read anew: nothing has changed.";
  if (restart.length === 0) return "The settings were read anew and are in force.";
  return changed.length === 0
    ? "The settings were read anew. What changed needs a restart."
    : "The settings were read anew. Part of what changed needs a restart.";
}

export function toneOf({ in_force, restart }: Reloaded): "good" | "warn" | "bad" {
  if (!in_force) return "bad";
  return restart.length > 0 ? "warn" : "good";
}
