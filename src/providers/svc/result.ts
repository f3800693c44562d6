import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { type Micros, parseAmount } from "../../domain/money/money.ts";
import type { Output } from "../../domain/ports/provider.ts";
import type { TaskKind } from "../../domain/task/request.ts";
import { FILE_DAMAGED, RESULT_ISSUE_CODES } from "../../domain/task/result-issue.ts";

/**
 * The outputs of a completed task, with those that are missing at their places. Undefined where none can be read. Files are fetched at
 * the address by which the task was made, whichever one callers of that instance use.
 */
export function readOutputs(
  { result, result_issues: issues }: JsonObject,
  kind: TaskKind,
): Output[] | undefined {
  if (!Array.isArray(result) || result.length === 0) return undefined;
  const outputs: Output[] = [];
  for (const url of result) {
    const path = typeof url === "string" ? URL.parse(url)?.pathname : undefined;
    const [asset] = path?.match(/\/assets\/[^/]+$/) ?? [];
    if (asset === undefined) return undefined;
    outputs.push({ kind: "remote", ref: { path: asset, kind } });
  }
  // A file that was found damaged since still has its address.
  const isMissing = ({ code }: JsonObject) => code !== FILE_DAMAGED;
  const told = Array.isArray(issues) ? issues.filter(isJsonObject).filter(isMissing) : [];
  const isPlace = ({ index }: JsonObject) =>
    Number.isInteger(index) && Number(index) >= 0 && Number(index) < result.length + told.length;
  const missing = told.filter(isPlace);
  missing.sort((a, b) => Number(a.index) - Number(b.index));
  for (const { index, code } of missing) {
    const known = RESULT_ISSUE_CODES.find((each) => each === code) ?? "UPSTREAM_ERROR";
    if (typeof index === "number") outputs.splice(index, 0, { kind: "missing", code: known });
  }
  return outputs;
}

/** An amount of money, `"0.040000"`; of none that is a debt. */
export function readMicros(amount: Json | undefined): Micros | undefined {
  const micros = typeof amount === "string" ? parseAmount(amount) : undefined;
  return micros !== undefined && micros >= 0 ? micros : undefined;
}
