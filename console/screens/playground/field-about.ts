import type { Rule } from "./schema.ts";

export interface FieldProps {
  readonly name: string;
  readonly rule: Rule;
  readonly value: unknown;
  readonly isNeeded: boolean;
  readonly problem?: string | undefined;
  /** Said after the description, such as whose field it is. */
  readonly note?: string | undefined;
  readonly onValue: (value: unknown) => void;
}

/** What is said about a field, around its control. */
export function aboutOf({ name, rule, isNeeded, note, problem }: FieldProps) {
  const hint = [rule.description, note].filter(Boolean).join(" ") || undefined;
  return { label: isNeeded ? `${name} (needed)` : name, ...(hint && { hint }), problem };
}

export const BOX =
  "w-full rounded-md border border-edge bg-card px-2.5 py-1.5 text-ink placeholder:text-soft aria-invalid:border-bad";
