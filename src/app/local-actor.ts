import { userInfo } from "node:os";
import type { Actor } from "../domain/access/actor.ts";

/** Whoever runs a command on a data folder: the user of the machine, or its number where it has no name. */
export function localActor(): Actor {
  return { kind: "local", name: userName() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no entry among the system's.
    return String(process.getuid?.() ?? "unknown");
  }
}
