import { AGENTS } from "./agents.ts";
import { FILMS } from "./films.ts";
import { LIBRARIES } from "./libraries.ts";
import { PROGRAMS } from "./programs.ts";
import type { Snippet } from "./snippet.ts";

/** How programs are told of this service, ready for copying: for `svc keys snippet`, the console and `/docs/clients` alike. */
export const SNIPPETS: readonly Snippet[] = [
  ...LIBRARIES.map((library) => ({ ...library, film: FILMS[library.id] })),
  ...PROGRAMS,
  ...AGENTS,
];
