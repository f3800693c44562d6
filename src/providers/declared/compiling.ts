import { isJsonObject } from "../../domain/json.ts";
import type { Path } from "../../toolkit/schema-problems.ts";
import { compileExpression, type Expression } from "./expression.ts";
import { ExpressionError } from "./fences.ts";
import { type CompiledTemplate, isWhole, readTemplate, TemplateError } from "./template.ts";
import { createValue, type Value } from "./value.ts";

/** What is wrong in a form, and where. */
export interface FormProblem {
  readonly path: Path;
  readonly problem: string;
  /** Characters of the text at `path` that stand before the fault. */
  readonly offset?: number | undefined;
  /** The key at `path` is at fault, not its value. */
  readonly isKey?: boolean | undefined;
}

/** The most expressions of a form. The largest form that is known has 150. */
const EXPRESSIONS_MAX = 1_000;
/** The most visits that all expressions of one call may make together, which takes about 40 ms. */
const VISITS_MAX = 200_000;

/** Compiles the expressions of a form and gathers what is wrong with them. */
export class Compiling {
  readonly problems: FormProblem[] = [];
  /** Variables that an expression reads as a whole. */
  readonly names = new Set<string>();
  #visits = 0;
  #expressions = 0;

  /** Resets the count, for a part of the form whose expressions run together. */
  part<T>(path: Path, compile: () => T): T {
    this.#visits = 0;
    const compiled = compile();
    if (this.#visits > VISITS_MAX)
      this.report(path, "takes too long for long lists: do less inside map, filter, exists and all");
    return compiled;
  }

  /** Compiles a part, and tells whether it reads a variable as a whole. */
  reading<T>(name: string, compile: () => T): readonly [compiled: T, isRead: boolean] {
    const wasRead = this.names.delete(name);
    const compiled = compile();
    const isRead = this.names.has(name);
    if (wasRead) this.names.add(name);
    return [compiled, isRead];
  }

  /** Compiles a part that is made of what stands elsewhere in the file: its problems are told there. */
  moved<T>(toWritten: (path: Path) => Path, compile: () => T): T {
    const before = this.problems.length;
    const compiled = compile();
    for (const each of this.problems.splice(before))
      this.problems.push({ ...each, path: toWritten(each.path) });
    return compiled;
  }

  report(path: Path, problem: string, more: Pick<FormProblem, "offset" | "isKey"> = {}): void {
    this.problems.push({ path, problem, ...more });
  }

  /** A value as forms have them: a template, or a mapping or list of such values, or a constant. */
  value(given: unknown, allowed: ReadonlySet<string>, path: Path, keepsBrackets = false): Value {
    return createValue(
      given,
      path,
      {
        template: (text, at) => this.template(text, allowed, at),
        each: (text, at) => this.template(text, new Set([...allowed, "file"]), at),
        keepsBrackets,
        report: (at, problem) => this.report(at, problem, { isKey: true }),
      },
      true,
    );
  }

  /** A text of the form, with its expressions compiled. */
  template(text: string, allowed: ReadonlySet<string>, path: Path): CompiledTemplate {
    try {
      const template = readTemplate(text);
      const expressions = template.expressions.map(({ source, offset }) =>
        this.#expression(source, offset, allowed, path),
      );
      return { template, isWhole: isWhole(template), expressions };
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.report(path, error.message, { offset: error.offset });
      return NOTHING;
    }
  }

  #expression(source: string, offset: number, allowed: ReadonlySet<string>, path: Path): Expression {
    this.#expressions += 1;
    if (this.#expressions === EXPRESSIONS_MAX + 1)
      this.report([], `has more than ${EXPRESSIONS_MAX} expressions`);
    if (this.#expressions > EXPRESSIONS_MAX) return FAULTY;
    try {
      const expression = compileExpression(source, allowed);
      this.#visits += expression.visits;
      for (const name of expression.names) this.names.add(name);
      return expression;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.report(path, error.message, { offset: offset + error.offset });
      return FAULTY;
    }
  }
}

const NOTHING: CompiledTemplate = {
  template: { texts: [""], expressions: [] },
  isWhole: false,
  expressions: [],
};

/** Stands in for an expression that could not be compiled; a form with one is never used. */
const FAULTY: Expression = {
  names: new Set(),
  visits: 0,
  evaluate() {
    throw new ExpressionError("could not be compiled");
  },
};

/** Keys of a mapping that begin an expression, which YAML has read as a mapping. */
export function mappingsThatWereExpressions(value: unknown, path: Path = []): FormProblem[] {
  if (Array.isArray(value))
    return value.flatMap((each, i) => mappingsThatWereExpressions(each, [...path, i]));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const at = [...path, key];
    if (!key.startsWith("${") && !key.startsWith("{")) return mappingsThatWereExpressions(each, at);
    return [{ path: at, isKey: true, problem: MAPPING }];
  });
}

/** Said of an expression that is not quoted and holds `: ` or stands inside `{ }`. */
export const MAPPING =
  "is a mapping to YAML, because the expression holds \": \" or stands inside { }; put it in quotes: '${a ? b : c}'";
