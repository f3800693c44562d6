import { suggest } from "../domain/suggest.ts";
import type { SchemaViolation } from "../toolkit/json-schema.ts";
import type { Path, Problem } from "../toolkit/schema-problems.ts";
import * as schema from "../toolkit/schema-problems.ts";

/** A list with the problem, unless all is well. */
export function unless(isFine: boolean, path: Path, problem: string): Problem[] {
  return isFine ? [] : [{ path, problem }];
}

/** `; did you mean "name"?` where a known name is close, else nothing. */
export function didYouMean(given: string, known: readonly string[]): string {
  const near = suggest(given, known);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}

/** The problems that a check of `value` found; see toolkit/schema-problems.ts. */
export function problemsOf(violations: readonly SchemaViolation[], value: unknown): Problem[] {
  return schema.problemsOf(violations, value, { field: didYouMean, value: didYouMean });
}
