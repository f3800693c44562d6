import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import type { Actor } from "../domain/access/actor.ts";

/** The actor of a command on a data folder: the user of the machine. */
export function localActor(): Actor {
  return { kind: "local", name: userName() };
}

/** The name of the process's user. Not from a variable, because anybody can set one. */
function userName(): string {
  const uid = process.getuid?.();
  if (uid === undefined) return userInfo().username;
  try {
    const entries = readFileSync("/etc/passwd", "utf8").split("\n");
    const own = entries.map((line) => line.split(":")).find(([, , id]) => id === String(uid));
    if (own?.[0]) return own[0];
  } catch {
    // A container may have no list of users. Then the number says who it was.
  }
  return `uid ${uid}`;
}
