import type { JsonObject } from "../../domain/json.ts";
import { variablesOf } from "./auth.ts";
import { authsOf } from "./compiled-form.ts";
import type { AuthForm, Flow, Form } from "./form.ts";
import { headOf } from "./head.ts";

const PARTS = ["prepare", "submit", "poll", "result", "cancel", "recover"] as const;
const KINDS = ["basic", "jwt", "oauth", "token", "aws_sigv4", "volc_v4", "query", "header"] as const;

/** What a form says about its provider, for operators. It names only the variables of credentials. */
export function describeForm(form: Form): JsonObject {
  const { base, regions = {}, origins = [], media = [], limits = {}, refusals, test } = form;
  return {
    ...{ base, regions, origins: [...origins], media: [...media] },
    auth: authsOf(form).map((auth) => ({ kind: kindOf(auth), variables: Object.values(variablesOf(auth)) })),
    limits: { ...limits, under_way: headOf(form).concurrency } as JsonObject,
    flows: Object.entries(form.flows ?? { "": {} }).map(([name, flow]) => ({
      name: name === "" ? "all" : name,
      operations: operationsOf({ ...form, ...flow }),
    })),
    refusals: [...new Set((refusals?.when ?? []).map(({ means }) => means))],
    test: test !== undefined,
    examples: form.examples?.length ?? 0,
  };
}

function kindOf(auth: AuthForm): string {
  if (auth.none === true) return "none";
  return KINDS.find((kind) => auth[kind] !== undefined) ?? "header";
}

/** What can be done about a task: a flow that gives its outputs at once asks after nothing. */
function operationsOf(flow: Flow & Pick<Form, "prepare">): string[] {
  const isJob = flow.submit?.operation !== undefined;
  return PARTS.filter(
    (part) => flow[part] !== undefined && (isJob || part === "submit" || part === "prepare"),
  );
}
