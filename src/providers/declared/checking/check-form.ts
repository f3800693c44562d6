import type { Clock } from "../../../domain/ports/runtime.ts";
import type { Path } from "../../../toolkit/schema-problems.ts";
import { readYaml } from "../../../toolkit/yaml.ts";
import { type CompiledForm, compileForm } from "../compiled-form.ts";
import { type ExampleForm, FORM_BYTES, type Form } from "../form.ts";
import { type Finding, FormFileError, readForm } from "../read-form.ts";
import { rehearseContract, TROUBLES } from "../rehearsal/contract.ts";
import { runExample } from "../rehearsal/example.ts";
import { deriveExample } from "./derive.ts";
import { type CheckedFlow, flowsOf } from "./flows.ts";
import { type Doubt, doubtsAbout } from "./warnings.ts";

/** Something about a form. An error must be mended before it is used; a warning may be meant so. */
export interface CheckFinding extends Finding {
  readonly severity: "error" | "warning";
}

export interface CheckedForm {
  /** In the order of the file. */
  readonly findings: readonly CheckFinding[];
  /** Examples that were run. */
  readonly examples: number;
  /** Kinds of trouble that each way to a success was tried with; 0 where there was none. */
  readonly troubles: number;
}

interface Trial {
  readonly form: Form;
  readonly clock: Clock;
  readonly report: (severity: CheckFinding["severity"], doubt: Doubt) => void;
}

/**
 * Checks all of a form: its structure and expressions, its examples, and how it handles an upstream in trouble. It only connects to
 * this machine.
 */
export async function checkForm(file: string, text: string, clock: Clock): Promise<CheckedForm> {
  let form: Form;
  try {
    form = readForm(file, text);
  } catch (error) {
    if (!(error instanceof FormFileError)) throw error;
    const findings = error.findings.map((each) => ({ ...each, severity: "error" as const }));
    return { findings, examples: 0, troubles: 0 };
  }
  const yaml = readYaml(text, { maxBytes: FORM_BYTES });
  const findings: CheckFinding[] = [];
  const report: Trial["report"] = (severity, { path, message, isKey }) => {
    const position = yaml.positionOf(path, isKey === true ? "key" : "value");
    findings.push({ ...position, severity, message: path.length === 0 ? `the form ${message}` : message });
  };
  for (const doubt of doubtsAbout(form)) report("warning", doubt);
  const tried = await tryForm({ form, clock, report });
  return { findings: findings.sort((a, b) => a.line - b.line || a.column - b.column), ...tried };
}

async function tryForm(trial: Trial): Promise<Pick<CheckedForm, "examples" | "troubles">> {
  const { form, clock, report } = trial;
  const { examples = [] } = form;
  for (const [i, example] of examples.entries()) {
    const { differences } = await runExample(form, example, { clock });
    for (const each of differences)
      report("error", { path: ["examples", i], message: `example "${example.name}": ${each}` });
  }
  const compiled = compileForm(form, "");
  const derived = examples.some(({ ends }) => ends === "succeeded") ? [] : await derive(trial, compiled);
  const placed: readonly { readonly example: ExampleForm; readonly path: Path }[] = [
    ...examples.map((example, i) => ({ example, path: ["examples", i] })),
    ...derived,
  ];
  const short = await rehearseContract(
    { ...form, examples: placed.map(({ example }) => example) },
    { clock },
  );
  for (const { example: name, message } of short) {
    const path = placed.find(({ example }) => example.name === name)?.path ?? [];
    report("error", { path, message: `in "${name}": ${message}` });
  }
  const isTried = placed.some(({ example }) => example.ends === "succeeded");
  return { examples: examples.length, troubles: isTried ? TROUBLES : 0 };
}

/** Examples made from the form alone, one for each flow that comes to an end so. */
async function derive({ form, clock, report }: Trial, compiled: CompiledForm) {
  const found: { readonly example: ExampleForm; readonly path: Path }[] = [];
  for (const flow of flowsOf(form, compiled)) {
    const path = pathOf(form, flow);
    const example = await deriveExample(form, compiled, flow);
    const differences = example && (await runExample(form, example, { clock })).differences;
    if (example !== undefined && differences?.length === 0) found.push({ example, path });
    else report("warning", { path, message: untried(differences), isKey: true });
  }
  return found;
}

function pathOf(form: Form, { compiled: { name } }: CheckedFlow): Path {
  const isOwn = form.flows?.[name]?.submit !== undefined;
  return name === "" || !isOwn ? ["submit"] : ["flows", name, "submit"];
}

function untried(differences: readonly string[] = []): string {
  const reason = differences.length === 0 ? "" : ` (${differences.join("; ")})`;
  return `no request and answers for it follow from the form alone${reason}, so it was not tried; give an example`;
}
