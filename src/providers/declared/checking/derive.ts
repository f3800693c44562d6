import { variablesOf } from "../auth.ts";
import { wordCall } from "../call.ts";
import { authsOf, type CompiledForm } from "../compiled-form.ts";
import { ExpressionError } from "../fences.ts";
import { Files } from "../files.ts";
import type { ExampleForm, Flow, Form } from "../form.ts";
import { type Place, readingOf } from "../places.ts";
import { ATTEMPT } from "../rehearsal/compare.ts";
import { requestOf } from "../rehearsal/example.ts";
import { chooseFlow } from "../submission.ts";
import { answersOf } from "./answers.ts";
import type { CheckedFlow } from "./flows.ts";

type Request = ExampleForm["request"];

/** What is tried as the value of a parameter that an expression cannot do without. */
const USUAL_VALUES: readonly unknown[] = [5, "1:1", "1024x1024", "5", true];
const MOST_REQUESTS = 2_000;
const MODES = {
  image: ["text-to-image", "image-to-image"],
  video: ["text-to-video", "image-to-video"],
} as const;

/**
 * Makes an example of a flow from the form alone: a request that the flow takes, and answers that have what its expressions read.
 *
 * @returns undefined when none is found
 */
export async function deriveExample(
  form: Form,
  compiled: CompiledForm,
  flow: CheckedFlow,
): Promise<ExampleForm | undefined> {
  let tries = 0;
  for (const request of requestsFor(form, flow)) {
    if (++tries > MOST_REQUESTS) return undefined;
    const example: ExampleForm = {
      name: `what ${flow.compiled.name || "the form"} says itself`,
      ...{ request, answers: [], ends: "succeeded" },
    };
    if (!(await isWorded(compiled, flow, example))) continue;
    const answers = answersOf(form, compiled, flow, request);
    return answers && { ...example, answers: [...tokenAnswers(form), ...answers] };
  }
  return undefined;
}

/** Whether the flow takes a request and has words for all of it. */
async function isWorded(
  compiled: CompiledForm,
  { compiled: flow }: CheckedFlow,
  example: ExampleForm,
): Promise<boolean> {
  const request = requestOf(example, compiled.form.provider);
  const scope = { tables: compiled.form.tables ?? {}, region: "", now: 0n };
  try {
    const chosen = chooseFlow(compiled, { scope }, request);
    if (chosen.flow !== flow) return false;
    const files = new Files(ATTEMPT as typeof request.attempt, request.inputs, flow.submit.inline);
    await wordCall(flow.submit.call, chosen.scope, files);
    return files.firstUnused() === undefined;
  } catch (error) {
    // No flow takes it, or an expression has no value for it.
    if (error instanceof ExpressionError || error instanceof Error) return false;
    throw error;
  }
}

/** Requests that a flow may take, the simplest first. */
function* requestsFor(form: Form, { compiled, form: flow }: CheckedFlow): Generator<Request> {
  const when = form.flows?.[compiled.name]?.when;
  const chosen = readingOf(when);
  const { places } = readingOf([when, flow.submit]);
  const needed = [...new Set(places.filter(isNeeded).map(({ steps }) => String(steps[0])))];
  const ours = chosen.literals.filter((each) => typeof each === "string");
  const values = [...USUAL_VALUES, ...Object.values(form.tables ?? {}).flatMap(firstKey), ...ours];
  const models = ["a-model", ...ours];
  for (const inputs of inputsOf(flow))
    for (const params of paramsOf(needed, values))
      for (const kind of ["image", "video"] as const)
        for (const mode of [...MODES[kind], ...ours])
          for (const model of models)
            yield { model, kind, mode, prompt: "A fox", params, n: 1, inputs: [...inputs] };
}

function isNeeded({ root, steps, isOptional }: Place): boolean {
  return root === "params" && steps.length > 0 && !isOptional;
}

function firstKey(table: unknown): string[] {
  return typeof table === "object" && table !== null ? Object.keys(table).slice(0, 1) : [];
}

/** No input, then one of each role that the submission reads. */
function inputsOf({ submit }: Flow): string[][] {
  const text = JSON.stringify(submit ?? {}).replaceAll("\\", "");
  const roles = [...text.matchAll(/\binputs?\(["']([a-z_]+)["']\)|"each ([a-z_]+) as /g)];
  const names = [...new Set(roles.map(([, read, each]) => read ?? each ?? ""))];
  return [[], ...names.map((name) => [name]), ...(names.length > 1 ? [names] : [])];
}

function* paramsOf(names: readonly string[], values: readonly unknown[]): Generator<Record<string, unknown>> {
  const count = Math.min(MOST_REQUESTS, values.length ** names.length);
  for (let i = 0; i < count; i++) {
    let rest = i;
    yield Object.fromEntries(
      names.map((name) => {
        const value = values[rest % values.length];
        rest = Math.floor(rest / values.length);
        return [name, value];
      }),
    );
  }
}

/** The answer to the call for a token, which comes first where there is one. */
function tokenAnswers(form: Form): ExampleForm["answers"] {
  const [kind] = authsOf(form);
  if (kind === undefined || Object.keys(variablesOf(kind)).length === 0) return [];
  if (kind.oauth !== undefined) return [{ body: { access_token: "token", expires_in: 3600 } }];
  return kind.token === undefined ? [] : [{ body: bodyWith(readingOf(kind.token.value).places, "token") }];
}

function bodyWith(places: readonly Place[], value: string): unknown {
  const [first] = places.filter(({ root }) => root === "body");
  return (first?.steps ?? []).reduceRight<unknown>(
    (inner, step) => (typeof step === "number" ? [inner] : { [step]: inner }),
    value,
  );
}
