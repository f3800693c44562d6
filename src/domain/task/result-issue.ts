import type { TaskErrorCode } from "../errors.ts";
import { FILE_DAMAGED_MESSAGE, RESULT_ISSUE_MESSAGES } from "../words/result-words.ts";

export type ResultIssueCode = keyof typeof RESULT_ISSUE_MESSAGES & TaskErrorCode;
// The keys of the table are its codes.
export const RESULT_ISSUE_CODES = Object.keys(RESULT_ISSUE_MESSAGES) as [
  ResultIssueCode,
  ...ResultIssueCode[],
];

/** An output that cannot be obtained, at its place among the others. */
export interface MissingOutput {
  readonly kind: "missing";
  readonly code: ResultIssueCode;
  /** For the operator; free of secrets. */
  readonly detail?: string | undefined;
}

/** The code for a result whose file was found damaged after the task had ended. `result` still contains its address. */
export const FILE_DAMAGED = "FILE_DAMAGED";

/** A requested result that a completed task does not have, or whose file is damaged. */
export interface ResultIssue {
  /**
   * Its position among the requested results, from 0. If the upstream does not say which one is missing, the last ones count as
   * missing.
   */
  readonly index: number;
  readonly code: ResultIssueCode | typeof FILE_DAMAGED;
  /** Safe to show the owner of the task. */
  readonly message: string;
}

/** A result that never came. */
type MissingResult = ResultIssue & { readonly code: ResultIssueCode };

/** The results that are missing among a task's outputs, in order. */
export function resultIssues(
  outputs: readonly (MissingOutput | { readonly kind: "stored" | "remote" })[],
): MissingResult[] {
  return outputs.flatMap((output, index) =>
    output.kind === "missing"
      ? [{ index, code: output.code, message: RESULT_ISSUE_MESSAGES[output.code] }]
      : [],
  );
}

/** The position of each result of a task among the results that were requested. */
function placesOf(issues: readonly ResultIssue[], results: number): number[] {
  const absent = new Set(issues.flatMap(({ code, index }) => (code === FILE_DAMAGED ? [] : [index])));
  const places: number[] = [];
  for (let index = 0; places.length < results; index += 1) if (!absent.has(index)) places.push(index);
  return places;
}

/** The positions of damaged files among the results that a completed task has, from 0. */
export function damagedResults(issues: readonly ResultIssue[], results: number): number[] {
  const damaged = new Set(issues.flatMap(({ code, index }) => (code === FILE_DAMAGED ? [index] : [])));
  return placesOf(issues, results).flatMap((index, position) => (damaged.has(index) ? [position] : []));
}

/** The issues of a completed task if exactly the files of these results, given by their positions, are damaged. */
export function withDamage(
  issues: readonly ResultIssue[],
  results: number,
  damaged: ReadonlySet<number>,
): ResultIssue[] {
  const missing = issues.filter(({ code }) => code !== FILE_DAMAGED);
  const found = placesOf(issues, results)
    .filter((_, position) => damaged.has(position))
    .map((index) => ({ index, code: FILE_DAMAGED, message: FILE_DAMAGED_MESSAGE }) as const);
  return [...missing, ...found].sort((a, b) => a.index - b.index);
}

/** Why a task whose outputs are all missing fails. Moderation is named only where it explains all of them. */
export function failureOf(issues: readonly MissingResult[]): ResultIssueCode {
  const [first, ...others] = issues.filter(({ code }) => code !== "CONTENT_MODERATED");
  if (first === undefined) return issues.length === 0 ? "UPSTREAM_ERROR" : "CONTENT_MODERATED";
  return others.find(({ code }) => code === "FINALIZATION_FAILED")?.code ?? first.code;
}
