import type { Manners } from "./manners.ts";

/** The facades that tell errors in a form of their own. */
export const SPOKEN: readonly Manners[] = [];

/** Whose manners hold on a path; undefined on those of this service. */
export function mannersOf(path: string): Manners | undefined {
  return SPOKEN.find(({ base }) => path === base || path.startsWith(`${base}/`));
}
