import { isJsonObject } from "../../domain/json.ts";
import { suggest } from "../../domain/suggest.ts";
import { compiledSchema, createSchemaChecker, type SchemaChecker } from "../../toolkit/json-schema.ts";
import type { Path } from "../../toolkit/schema-problems.ts";
import { type Problem, pathText, problemsOf } from "../../toolkit/schema-problems.ts";
import { readYaml, type Yaml, YamlError } from "../../toolkit/yaml.ts";
import { compileForm, FormError, partProblems } from "./compiled-form.ts";
import { type FormProblem, MAPPING, mappingsThatWereExpressions } from "./compiling.ts";
import schema from "./form.schema.json";
import { FORM_BYTES, type Form } from "./form.ts";
import { consistencyProblems } from "./form-problems.ts";

/** Something wrong in a file, and where. */
export interface Finding {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Nobody reads more at once, and the place of each takes time to find. */
const FINDINGS_MAX = 50;
const VIOLATIONS_MAX = 4 * FINDINGS_MAX;

/** The schema of forms, and how it is compiled. */
export const FORMS = { schema, options: { annotations: ["x-must"], allErrors: true } } as const;

/** Made with the first form that is read. */
let checker: SchemaChecker | undefined;

/** A file that is no usable form. The message has a line for each finding: `bfl.yaml:12:9: submit.json …`. */
export class FormFileError extends Error {
  override readonly name = "FormFileError";
  constructor(
    readonly file: string,
    readonly findings: readonly Finding[],
  ) {
    super(findings.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`).join("\n"));
  }
}

/**
 * Reads a form and checks all of it: its shape, each of its expressions, and how its parts fit each other.
 *
 * @param file name for messages
 * @throws FormFileError with every finding
 */
export function readForm(file: string, text: string): Form {
  const yaml = parse(file, text);
  refuse(file, text, yaml, shapeProblems(yaml.value));
  // What its schema has let through.
  const form = yaml.value as Form;
  refuse(file, text, yaml, [...consistencyProblems(form), ...compileProblems(form)]);
  return form;
}

/** The text of a file that is to be a form. */
export interface FormText {
  /** Its name, for messages. */
  readonly file: string;
  readonly text: string;
}

/** A form, or what is wrong with its text. */
export type ReadResult = { readonly form: Form } | { readonly findings: readonly Finding[] };

/** Reads and checks forms. A fault of one says nothing of the others. */
export function readForms(texts: readonly FormText[]): ReadResult[] {
  return texts.map(({ file, text }) => {
    try {
      return { form: readForm(file, text) };
    } catch (error) {
      if (error instanceof FormFileError) return { findings: error.findings };
      const reason = error instanceof Error ? error.message : String(error);
      return { findings: [{ line: 1, column: 1, message: `cannot be read: ${reason}` }] };
    }
  });
}

/** The value does not have the structure of a form. Faults of its expressions are reported too, so that both can be fixed at once. */
function shapeProblems(value: unknown): FormProblem[] {
  const mapped = mappingsThatWereExpressions(value);
  checker ??= createSchemaChecker({ ...FORMS.options, sourceOf: () => compiledSchema("form") });
  // What is close to an unknown name takes time to find, too.
  const violations = checker.violations(schema, value).slice(0, VIOLATIONS_MAX);
  const shaped = problemsOf(violations, value, { field: knownHere, value: didYouMean }).map(toFormProblem);
  const isOfMapped = ({ path }: FormProblem) =>
    mapped.some((each) => each.path.slice(0, -1).every((step, i) => step === path[i]));
  const problems = [...mapped, ...shaped.filter((each) => !isOfMapped(each))];
  if (problems.length === 0 || !isJsonObject(value)) return problems;
  // Whatever it is, its parts are looked at where a form has them.
  const others = partProblems(value as unknown as Form).filter((each) => !followsFrom(each, problems));
  return [...problems, ...others];
}

/** Whether a fault of a part may be there only because something in the part, or the part itself, has another shape. */
function followsFrom({ path, offset }: FormProblem, problems: readonly FormProblem[]): boolean {
  const isSame = (other: Path) => other.length === path.length && other.every((step, i) => step === path[i]);
  return offset === undefined && problems.some((each) => isSame(each.path) || isSame(each.path.slice(0, -1)));
}

function compileProblems(form: Form): readonly FormProblem[] {
  try {
    compileForm(form, "");
    return [];
  } catch (error) {
    if (!(error instanceof FormError)) throw error;
    return error.problems;
  }
}

function parse(file: string, text: string): Yaml {
  try {
    return readYaml(text, { maxBytes: FORM_BYTES });
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { line, column } = error.position;
    const isExpression = /(?:^|[\s:,[{])\$\{/.test(text.split("\n")[line - 1] ?? "");
    const message =
      isExpression && /mapping|key|flow|implicit/i.test(error.message) ? `this ${MAPPING}` : error.message;
    throw new FormFileError(file, [{ line, column, message }]);
  }
}

function knownHere(given: string, known: readonly string[]): string {
  return didYouMean(given, known) || `; known here: ${known.join(", ")}`;
}

function didYouMean(given: string, known: readonly string[]): string {
  const near = suggest(given, known);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}

function toFormProblem({ path, problem, member }: Problem): FormProblem {
  return member === undefined
    ? { path, problem }
    : { path: [...path, member], problem: strangerText(path, problem), isKey: true };
}

/** The path of a finding is that of the stranger itself; its sentence is about what it is in. */
function strangerText(path: Problem["path"], problem: string): string {
  return `${pathText(path) || "the form"} ${problem}`;
}

function refuse(file: string, text: string, yaml: Yaml, problems: readonly FormProblem[]): void {
  if (problems.length === 0) return;
  const findings = problems.slice(0, FINDINGS_MAX).map((problem) => toFinding(text, yaml, problem));
  findings.sort((a, b) => a.line - b.line || a.column - b.column);
  const more = problems.length - findings.length;
  const rest = more > 0 ? [{ line: 1, column: 1, message: `the form has ${more} more faults` }] : [];
  throw new FormFileError(file, [...findings, ...rest]);
}

function toFinding(text: string, yaml: Yaml, { path, problem, offset, isKey }: FormProblem): Finding {
  const position = yaml.positionOf(path, isKey === true ? "key" : "value");
  const isSentence = isKey === true && / has an? /.test(problem);
  const message = isSentence ? problem : `${pathText(path) || "the form"} ${problem}`;
  return { ...shifted(text, position, offset ?? 0), message };
}

/** Moves a position into a text that is written on one line, past the quote that may open it. */
function shifted(text: string, { line, column }: { line: number; column: number }, offset: number) {
  const written = text.split("\n")[line - 1] ?? "";
  const opening = written[column - 1];
  const isBlock = opening === "|" || opening === ">";
  const quote = opening === '"' || opening === "'" ? 1 : 0;
  return {
    line,
    column: isBlock ? column : Math.min(column + quote + offset, Math.max(column, written.length)),
  };
}
