import type { ProviderAdapter } from "../../../src/domain/ports/provider.ts";
import type { ExampleForm, Form } from "../../../src/providers/declared/form.ts";
import {
  type Ending,
  endingOf,
  rehearsedProvider,
  requestOf,
} from "../../../src/providers/declared/rehearsal/example.ts";
import { fakeClock } from "../../helpers/engine.ts";
import { type Arrived, type Scripted, startUpstream } from "../../helpers/scripted-upstream.ts";
import { builtInForm } from "./harness.ts";

/** How a request to a provider ends that answers in this way; the last answer is given again. */
export async function play(
  provider: string,
  request: ExampleForm["request"],
  answers: readonly Scripted[],
): Promise<Ending> {
  return (await watch(provider, request, () => answers)).end;
}

/** What became of a request, and what arrived of it. */
export interface Watched {
  readonly end: Ending;
  readonly arrived: readonly Arrived[];
}

/** How an example of a form ends: with its own answers, or with these in their place. */
export function playExample(provider: string, name: string, answers?: readonly Scripted[]): Promise<Watched> {
  const example = exampleOf(provider, name);
  return watch(
    provider,
    example.request,
    (origin) => answers ?? example.answers.map((answer) => scripted(answer, origin)),
  );
}

/** What the submission of an example is refused with when it is answered so. */
export async function playRefusal(provider: string, name: string, answer: Scripted) {
  const { end } = await playExample(provider, name, [answer]);
  if (end.kind !== "refused") throw new Error(`It is not refused: ${end.kind}`);
  const { disposition, code, details } = end.error;
  return { disposition, code, retryAfterMs: details.retryAfterMs };
}

/** The job of an example, submitted. Calls about it are answered by `answer`. */
export async function submitExample(provider: string, name: string, answer: (call: Arrived) => Scripted) {
  const example = exampleOf(provider, name);
  const [first = {}] = example.answers;
  const upstream = await startUpstream(() => scripted(first, upstream.origin));
  const adapter: ProviderAdapter = rehearsedProvider(formOf(provider), upstream.origin, fakeClock());
  const submitted = await adapter.submit(requestOf(example, provider), new AbortController().signal);
  if (submitted.kind !== "operation") throw new Error("It is no job.");
  upstream.answer = answer;
  const { arrived } = upstream;
  return { adapter, operation: submitted.operation, arrived, [Symbol.dispose]: () => upstream.stop() };
}

export function exampleOf(provider: string, name: string): ExampleForm {
  const example = formOf(provider).examples?.find((each) => each.name === name);
  if (example === undefined) throw new Error(`${provider} has no example "${name}"`);
  return example;
}

/** Reading a form takes longer than playing it. */
const forms = new Map<string, Form>();
function formOf(provider: string): Form {
  return forms.getOrInsertComputed(provider, () => builtInForm(`${provider}.yaml`));
}

const MADE = "/made/1";

export async function watch(
  provider: string,
  request: ExampleForm["request"],
  answers: (origin: string) => readonly Scripted[],
): Promise<Watched> {
  let left: Scripted[] = [];
  const upstream = await startUpstream(({ path }) => {
    if (path === MADE) return { body: "made" };
    return (left.length > 1 ? left.shift() : left[0]) ?? { json: {} };
  });
  left = [...answers(upstream.origin)];
  try {
    const adapter = rehearsedProvider(formOf(provider), upstream.origin, fakeClock());
    const submission = requestOf({ name: "", request, answers: [], ends: "pending" }, provider);
    return { end: await endingOf(adapter, submission, 5), arrived: upstream.arrived };
  } finally {
    upstream.stop();
  }
}

/** An answer as examples write it; `${media}` in it is the address of a file. */
function scripted({ status = 200, headers, body }: ExampleForm["answers"][number], origin: string): Scripted {
  const shared = { status, ...(headers && { headers: { ...headers } }) };
  if (body === undefined) return { ...shared, body: "" };
  return { ...shared, json: JSON.parse(JSON.stringify(body).replaceAll("${media}", `${origin}${MADE}`)) };
}
