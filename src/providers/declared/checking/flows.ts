import type { CompiledForm } from "../compiled-form.ts";
import type { CompiledFlow } from "../flow.ts";
import type { Flow, Form } from "../form.ts";

/** One flow of a form. */
export interface CheckedFlow {
  readonly compiled: CompiledFlow;
  /** With what the form says for all flows. */
  readonly form: Flow;
}

export function flowsOf(form: Form, compiled: CompiledForm): CheckedFlow[] {
  return compiled.flows.map((flow) => ({
    compiled: flow,
    form: { ...form, ...form.flows?.[flow.name] },
  }));
}
