import { readFileSync } from "node:fs";

/** How many files and connections this process may have open; undefined where the system does not say. */
export function descriptorLimit(): number | undefined {
  let text: string;
  try {
    text = readFileSync("/proc/self/limits", "utf8");
  } catch {
    // Only Linux has this file.
    return undefined;
  }
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return soft === undefined ? undefined : Number(soft);
}
