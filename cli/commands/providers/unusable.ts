import type { Failure } from "../../failure.ts";

/** So many lines say enough. */
const MOST = 3;

/**
 * Adds to "there is no such provider" what is wrong with the files that describe providers: one of them may be meant.
 *
 * @param problems a line each, with the file first. Those of a file that is named for the provider count alone, if there are any
 */
export function withUnusableFiles(failure: Failure, id: string, problems: readonly string[]): Failure {
  const named = problems.filter((line) => line.includes(`/${id}.yaml:`));
  const shown = (named.length > 0 ? named : problems).slice(0, MOST);
  if (shown.length === 0) return failure;
  const hint = ["A file that describes a provider cannot be used:", ...shown].join("\n  ");
  return failure.withHint([failure.hint, hint].filter((line) => line !== undefined).join("\n  "));
}
