import { mustBe } from "../../domain/errors.ts";
import { parseDay, parseSplit, type UsageGroup, type UsageSplit } from "../../domain/money/usage.ts";
import { type Properties, text } from "./schema.ts";

const day = (description: string) =>
  text(description, { pattern: "^\\d{4}-\\d\\d-\\d\\d$", "x-must": "be a day like 2026-11-01" });

/** The parameters of a query for usage. @param groups what its rows may be grouped by */
export function usageParameters(groups: readonly UsageGroup[]): Properties {
  const one = `(?:${groups.join("|")})`;
  return {
    by: text("What each row is of: one thing, or two with a comma between them, for each pair.", {
      pattern: `^${one}(?:,${one})?$`,
      "x-must": `be one or two of ${groups.join(", ")}, as day,model`,
      default: "day",
      examples: ["day,model"],
    }),
    since: day("First day, UTC; 30 days ago unless given."),
    until: day("Last day, UTC; today unless given."),
  };
}

/** The parameters after the schema has checked them. */
export interface UsageParameters {
  readonly by?: string;
  readonly since?: string;
  readonly until?: string;
}

/**
 * The usage that a query asks for. @throws AppError `invalid_request` for a day that does not exist, and for a group that is
 * given twice
 */
export function readUsageQuery({ by = "day", since, until }: UsageParameters): UsageSplit & {
  readonly since: number | undefined;
  readonly until: number | undefined;
} {
  const split = parseSplit(by);
  if (split === undefined) throw mustBe("by", { rule: "name two different things" }, by);
  return { ...split, since: dayAt("since", since), until: dayAt("until", until) };
}

function dayAt(field: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const found = parseDay(given);
  if (found !== undefined) return found;
  throw mustBe(field, { form: "day" }, given);
}
