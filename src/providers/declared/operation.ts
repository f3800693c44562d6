import type { Path } from "../../toolkit/schema-problems.ts";
import type { Compiling } from "./compiling.ts";
import type { Scope } from "./expression.ts";
import { tryEvaluate } from "./reading.ts";
import type { Value } from "./value.ts";

/** Compiles what is to be remembered of an answer. */
export function compileOperation(
  compiling: Compiling,
  form: Readonly<Record<string, string>>,
  allowed: ReadonlySet<string>,
  path: Path,
): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(form).map(([name, text]) => [name, compiling.value(text, allowed, [...path, name])]),
  );
}

/** Reads the values of an operation. @returns undefined when one is absent, empty or no text or number */
export function readOperation(
  values: Readonly<Record<string, Value>>,
  scope: Scope,
): Record<string, string | number> | undefined {
  const operation: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(values)) {
    const given = tryEvaluate(value, scope);
    if (given === "" || (typeof given !== "string" && typeof given !== "number")) return undefined;
    operation[name] = given;
  }
  return operation;
}
