import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { reasonOf } from "../toolkit/system-error.ts";
import type { Rule, RuleProblem } from "./rules/rules.ts";

/** A file with a rule on each line. */
export interface RuleFile {
  readonly kind: Rule["kind"];
  /** Absolute. */
  readonly path: string;
  /** Where it is named. */
  readonly where: string;
}

const MOST_BYTES = 16 * 1024 * 1024;

/** Reads a file of rules. Lines that are empty or begin with # are none. */
export function readRuleFile({ kind, path, where }: RuleFile): {
  readonly rules: readonly Rule[];
  readonly problems: readonly RuleProblem[];
} {
  const problem = (message: string) => ({ rules: [], problems: [{ where, message }] });
  try {
    if (statSync(path).size > MOST_BYTES) return problem(`names ${path}, which is larger than 16 MB`);
    const lines = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path)).split(/\r?\n/);
    const rules = lines.flatMap((line, i): Rule[] => {
      const text = line.trim();
      const place = { name: `${basename(path)}:${i + 1}`, where: `${path}:${i + 1}` };
      return text === "" || text.startsWith("#") ? [] : [{ kind, text, ...place }];
    });
    return rules.length === 0 ? problem(`names ${path}, which has no rules`) : { rules, problems: [] };
  } catch (error) {
    return problem(`names ${path}, which cannot be read: ${reasonOf(error)}`);
  }
}
