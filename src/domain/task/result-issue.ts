import type { TaskErrorCode } from "../errors.ts";
import { RESULT_ISSUE_MESSAGES } from "../words/result-words.ts";

export type ResultIssueCode = keyof typeof RESULT_ISSUE_MESSAGES & TaskErrorCode;
// The keys of the table are its codes.
export const RESULT_ISSUE_CODES = Object.keys(RESULT_ISSUE_MESSAGES) as [
  ResultIssueCode,
  ...ResultIssueCode[],
];

/** An output that is not to be had, at its place among the others. */
export interface MissingOutput {
  readonly kind: "missing";
  readonly code: ResultIssueCode;
  /** For the operator; free of secrets. */
  readonly detail?: string | undefined;
}

/** One result that a completed task was asked for and does not have. */
export interface ResultIssue {
  /** Its position among those asked for, from 0. Where the upstream does not tell which one is missing, the last ones. */
  readonly index: number;
  readonly code: ResultIssueCode;
  /** Safe to show the owner of the task. */
  readonly message: string;
}

/** The results that are missing among a task's outputs, in order. */
export function resultIssues(
  outputs: readonly (MissingOutput | { readonly kind: "stored" | "remote" })[],
): ResultIssue[] {
  return outputs.flatMap((output, index) =>
    output.kind === "missing"
      ? [{ index, code: output.code, message: RESULT_ISSUE_MESSAGES[output.code] }]
      : [],
  );
}

/** Why a task whose outputs are all missing fails. Moderation is named only where it explains all of them. */
export function failureOf(issues: readonly ResultIssue[]): ResultIssueCode {
  const [first, ...others] = issues.filter(({ code }) => code !== "CONTENT_MODERATED");
  if (first === undefined) return issues.length === 0 ? "UPSTREAM_ERROR" : "CONTENT_MODERATED";
  return others.find(({ code }) => code === "FINALIZATION_FAILED")?.code ?? first.code;
}
