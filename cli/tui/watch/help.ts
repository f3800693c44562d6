import type { WatchState } from "./state.ts";

/** All fit into 40 columns and 24 lines. */
export const HELP = [
  ["↑ ↓, j k", "select a task"],
  ["PgUp PgDn Space", "by a screen; of an open task, its text"],
  ["Home End, g G", "first, last; the first follows new tasks"],
  ["Enter, Esc", "open the task, close it"],
  ["Tab, ← →, 1-6", "choose a status"],
  ["/", "search id, model, status, error; Esc ends"],
  ["s", "sort by newest, oldest, time, cost, model"],
  ["c", "cancel it; asks"],
  ["r", "create one like it; asks"],
  ["d, o", "save its results here; open the first one"],
  ["y, Y", "copy its id; its first result's address"],
  ["q, Ctrl-C", "quit"],
  ["Ctrl-Z", "go back to the shell; fg returns here"],
] as const;

/** What is worth pressing now, in 80 columns; in fewer, the last ones are cut off. */
export function hintsOf({ isHelp, isSearching, isDetail }: WatchState): string {
  if (isHelp) return "Esc close  q quit";
  if (isSearching) return "Enter keep  Esc end the search";
  if (isDetail) return "Esc close  q quit  ↑↓ task  PgDn text  c cancel  r retry  d save  o open  y copy";
  return "? help  q quit  Enter open  / search  Tab status  c cancel  r retry  d save";
}
