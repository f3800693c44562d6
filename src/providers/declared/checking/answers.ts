import type { JsonObject } from "../../../domain/json.ts";
import type { UpstreamAnswer } from "../../kit/answer.ts";
import type { CompiledForm } from "../compiled-form.ts";
import type { Scope } from "../expression.ts";
import { ExpressionError } from "../fences.ts";
import type { Question } from "../flow.ts";
import type { ExampleForm, Form, OutputsForm, ReadForm } from "../form.ts";
import { readOperation } from "../operation.ts";
import { type Reading, readingOf } from "../places.ts";
import { answerScope, type ReadMaking, textIn, tryEvaluate } from "../reading.ts";
import { ATTEMPT } from "../rehearsal/compare.ts";
import { PICTURE } from "../rehearsal/upstream.ts";
import type { CheckedFlow } from "./flows.ts";
import { freePlaces, type Placed, searchBody } from "./search.ts";

type Request = ExampleForm["request"];
type Answer = ExampleForm["answers"][number];

interface Search {
  readonly form: Form;
  readonly compiled: CompiledForm;
  readonly flow: CheckedFlow;
  /** What expressions see beside the answer. */
  readonly scope: Scope;
  readonly kind: Request["kind"];
}

/** Answers that bring a request to its end: to the submission, to a question while the job runs, and when it is done. */
export function answersOf(
  form: Form,
  compiled: CompiledForm,
  flow: CheckedFlow,
  { model, kind, mode, prompt = "", params = {} }: Request,
): Answer[] | undefined {
  const own = { model, kind, mode, prompt, params, n: 1n, attempt: ATTEMPT, fields: {} };
  const scope = { ...own, tables: form.tables ?? {}, region: "", now: 0n };
  const search: Search = { form, compiled, flow, scope, kind };
  return flow.compiled.submit.operation === undefined ? syncAnswers(search) : jobAnswers(search);
}

function syncAnswers(search: Search): Answer[] | undefined {
  const { submit } = search.flow.form;
  const { making } = search.flow.compiled.submit;
  if (submit === undefined || making === undefined) return undefined;
  const answer = findMade(search, submit, making, search.scope, () => true);
  return answer && [answer];
}

function jobAnswers(search: Search): Answer[] | undefined {
  const { poll, result } = search.flow.compiled;
  const form = search.flow.form;
  const submitted = findSubmitted(search);
  if (submitted === undefined || poll === undefined || form.poll === undefined) return undefined;
  const { answer, operation } = submitted;
  const scope = { ...search.scope, operation };
  const pending = findWord(search, form.poll, poll, scope, "pending");
  if (result === undefined || form.result === undefined) {
    const isDone = (seen: Scope) => isWord(poll, seen, "succeeded");
    const done = poll.making && findMade(search, form.poll, poll.making, scope, isDone);
    return done && [answer, ...(pending ? [pending] : []), done];
  }
  const done = findWord(search, form.poll, poll, scope, "succeeded");
  const polled = { ...scope, polled: done?.body };
  const isDone = (seen: Scope) => result.status === undefined || isWord(result, seen, "succeeded");
  const made = result.making && findMade(search, form.result, result.making, polled, isDone);
  return done && made && [answer, ...(pending ? [pending] : []), done, made];
}

/** An answer that the submission takes its operation from. Where a later call goes to an address of it, it is one. */
function findSubmitted(search: Search): { answer: Answer; operation: JsonObject } | undefined {
  const { flow, scope } = search;
  const { operation: values } = flow.compiled.submit;
  const form = flow.form.submit?.operation ?? {};
  if (values === undefined) return undefined;
  const addressed = addressesIn([flow.form.poll, flow.form.result, flow.form.cancel]);
  const fixed = Object.entries(form).flatMap(([name, text]) =>
    freePlaces(readingOf(text), "body").map(
      (steps): Placed => ({ steps, value: addressed.has(name) ? "${base}/rehearsed-job" : "1" }),
    ),
  );
  return searchAnswer(search, readingOf([]), fixed, {}, (answer) => {
    const operation = readOperation(values, { ...scope, ...answer.scope });
    return operation && { answer: answer.given, operation };
  });
}

/** Names of values of the operation that a call uses as an address. */
function addressesIn(calls: readonly unknown[]): Set<string> {
  const texts = calls.flatMap((call) =>
    typeof call === "object" && call !== null ? Object.values(call) : [],
  );
  const names = texts.flatMap((text) =>
    typeof text === "string" ? (/^\$\{\s*operation\.(\w+)\s*\}/.exec(text)?.[1] ?? []) : [],
  );
  return new Set(names);
}

function isWord(question: Question, scope: Scope, kind: "pending" | "succeeded"): boolean {
  const word = textIn(question.status, scope);
  return word !== undefined && question.wordOf(word)?.kind === kind;
}

function findWord(
  search: Search,
  form: ReadForm,
  question: Question,
  scope: Scope,
  kind: "pending" | "succeeded",
): Answer | undefined {
  return searchAnswer(search, readingOf(form.status), [], form, ({ given, scope: seen }) =>
    isWord(question, { ...scope, ...seen }, kind) ? given : undefined,
  );
}

/** An answer that holds what was made. */
function findMade(
  search: Search,
  form: ReadForm,
  making: ReadMaking,
  scope: Scope,
  isDone: (scope: Scope) => boolean,
): Answer | undefined {
  const fixed = outputPlaces(form.outputs ?? {});
  return searchAnswer(search, readingOf([form.status]), fixed, form, ({ answer, given, scope: own }) => {
    const seen = { ...scope, ...own };
    return isDone(seen) && hasOutput(making, answer, seen, search.kind) ? given : undefined;
  });
}

function hasOutput(making: ReadMaking, answer: UpstreamAnswer, scope: Scope, kind: Request["kind"]): boolean {
  try {
    const { outputs } = making(answer, scope, kind);
    return outputs.length > 0 && outputs.every((each) => each.kind !== "missing");
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

/** Where an answer has what was made. */
function outputPlaces({ each, url, base64 }: OutputsForm): Placed[] {
  const [list] = freePlaces(readingOf(each), "body");
  const placed = (text: string | undefined, value: string): Placed[] => [
    ...freePlaces(readingOf(text), "body").map((steps) => ({ steps, value })),
    ...freePlaces(readingOf(text), "item").map((steps) => ({ steps: [...(list ?? []), 0, ...steps], value })),
  ];
  return [...placed(url, "${media}"), ...placed(base64, Buffer.from(PICTURE).toString("base64"))];
}

interface Tried {
  readonly given: Answer;
  readonly answer: UpstreamAnswer;
  readonly scope: Scope;
}

/** Looks for an answer that counts as a success and is good. */
function searchAnswer<T>(
  { form, compiled, scope: shared }: Search,
  reading: Reading,
  fixed: readonly Placed[],
  { words = {}, answers, outputs }: ReadForm,
  isGood: (tried: Tried) => T | undefined,
): T | undefined {
  const envelope = readingOf(form.envelope);
  const places = [...reading.places, ...envelope.places];
  const own = Object.keys(words);
  const values = [...new Set([...own, ...reading.literals, ...envelope.literals, true, 1, "1"])];
  const headers = outputs?.bytes === true ? { "content-type": "image/png" } : undefined;
  for (const status of answers ?? [200]) {
    const found = searchBody(fixed, freePlaces({ places }, "body", fixed), values, (body) => {
      const given: Answer = { status, body, ...(headers && { headers }) };
      const answer = answered(given);
      const scope = answerScope(answer);
      const isOk =
        compiled.isOk === undefined ||
        answer.bytes !== undefined ||
        tryEvaluate(compiled.isOk, { ...shared, ...scope }) === true;
      return isOk ? isGood({ given, answer, scope }) : undefined;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

function answered({ status = 200, headers = {}, body }: Answer): UpstreamAnswer {
  const isFile = headers["content-type"] === "image/png";
  return {
    ...{ status, headers: new Headers(headers) },
    ...(isFile ? { bytes: PICTURE, json: undefined } : { json: body as UpstreamAnswer["json"] }),
  };
}
