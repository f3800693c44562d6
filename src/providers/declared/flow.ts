import type { Path } from "../../toolkit/schema-problems.ts";
import type { Meaning } from "../kit/refusal.ts";
import { type Call, compileCall } from "./call.ts";
import type { Compiling } from "./compiling.ts";
import type { Scope } from "./expression.ts";
import type {
  CancelForm,
  Flow,
  NamedFlow,
  PrepareForm,
  ReadForm,
  RecoverForm,
  SubmitForm,
  WordForm,
} from "./form.ts";
import { checkHeaderNames } from "./header-names.ts";
import * as names from "./names.ts";
import { compileOperation } from "./operation.ts";
import { compileCost, compileMaking, type ReadCost, type ReadMaking, tryEvaluate } from "./reading.ts";
import { compileRule, isMeaning, nearMeaning, type Rule } from "./refusals.ts";
import type { Value } from "./value.ts";

/** A compiled flow: how something is submitted, polled, fetched, cancelled and found again. */
export interface CompiledFlow {
  /** Empty for the form's only one. */
  readonly name: string;
  /** Whether it takes a request. */
  readonly takes: (scope: Scope) => boolean;
  readonly prepare: readonly Upload[];
  readonly submit: Submission;
  readonly poll?: Question | undefined;
  readonly result?: Question | undefined;
  readonly cancel?: Cancel | undefined;
  readonly recover?: Recovery | undefined;
}

export interface Upload {
  /** Where it stands in the form. */
  readonly name: string;
  readonly roles: ReadonlySet<string>;
  readonly call: Call;
  /** The input itself is the body. */
  readonly isRaw: boolean;
  readonly gives: Readonly<Record<string, Value>>;
  readonly lifetimeMs: number;
}

export interface Submission {
  readonly call: Call;
  readonly inline: Readonly<Record<string, string>> | undefined;
  /** The header that carries the attempt's id. */
  readonly idempotent: string | undefined;
  readonly operation: Readonly<Record<string, Value>> | undefined;
  readonly making: ReadMaking | undefined;
  /** What the upstream will charge for the job. */
  readonly cost: ReadCost;
  readonly takesBytes: boolean;
  readonly pollAfter: Value | undefined;
  /** It says where the upstream may call. */
  readonly readsHook: boolean;
}

/** A question about a job, and how its answer is read. */
export interface Question {
  readonly call: Call;
  /** Whether an answer with this status is about the job. */
  readonly speaks: (status: number) => boolean;
  /** The upstream's word; absent where every answer is a result. */
  readonly status: Value | undefined;
  /** What the word means; undefined for one that the form does not have. */
  readonly wordOf: (word: string) => Word | undefined;
  readonly code: Value | undefined;
  readonly message: Value | undefined;
  readonly progress: Value | undefined;
  readonly pollAfter: Value | undefined;
  readonly making: ReadMaking | undefined;
  /** What the upstream charges, also for a job that failed. */
  readonly cost: ReadCost;
  readonly takesBytes: boolean;
}

export type Word =
  | { readonly kind: "pending" | "succeeded" | "cancelled" }
  | { readonly kind: "failed"; meaning(scope: Scope): Meaning; isCharged(scope: Scope): boolean }
  | { readonly kind: "lost"; readonly afterMs: number };

export interface Cancel {
  readonly call: Call;
  /** Words of the status in which it is safe; absent: always. */
  readonly while: ReadonlySet<string> | undefined;
}

export interface Recovery {
  readonly call: Call;
  readonly found: Value | Readonly<Record<string, Value>>;
  readonly isAbsent: Rule;
  /** Whether the rule says by which status or code a refusal means that there is no job. */
  readonly namesRefusal: boolean;
}

const DAY_MS = 86_400_000;

/** Compiles one flow. What it does not say itself is as the form says for all. */
export function compileFlow(
  compiling: Compiling,
  flow: NamedFlow,
  shared: { readonly form: Flow; readonly uploads: readonly Upload[] },
  name: string,
): CompiledFlow {
  const at: Path = name === "" ? [] : ["flows", name];
  const pathOf = (part: keyof Flow) => (flow[part] === undefined ? [part] : [...at, part]);
  const submit = flow.submit ?? shared.form.submit;
  if (submit === undefined) compiling.report(at, "has no submit");
  const {
    poll = shared.form.poll,
    result = shared.form.result,
    cancel = shared.form.cancel,
    recover = shared.form.recover,
  } = flow;
  const isJob = submit?.operation !== undefined;
  if (isJob && poll === undefined) compiling.report(at, "has an operation, and no poll to ask after it");
  const when =
    flow.when === undefined ? undefined : compiling.value(flow.when, names.OF_REQUEST, [...at, "when"]);
  const compiled = submit ?? { post: "/", outputs: { bytes: true } };
  return {
    name,
    takes: (scope) => when === undefined || tryEvaluate(when, scope) === true,
    prepare: flow.prepare ? compileUploads(compiling, flow.prepare, at) : shared.uploads,
    submit: compiling.part(pathOf("submit"), () => compileSubmit(compiling, compiled, pathOf("submit"))),
    poll:
      isJob && poll
        ? compiling.part(pathOf("poll"), () =>
            compilePoll(compiling, poll, result !== undefined, pathOf("poll")),
          )
        : undefined,
    result:
      isJob && result
        ? compiling.part(pathOf("result"), () =>
            compileQuestion(compiling, result, names.OF_RESULT, names.OF_RESULT_ANSWER, pathOf("result")),
          )
        : undefined,
    cancel: isJob && cancel ? compileCancel(compiling, cancel, pathOf("cancel")) : undefined,
    recover:
      isJob && recover
        ? compiling.part(pathOf("recover"), () => compileRecovery(compiling, recover, pathOf("recover")))
        : undefined,
  };
}

/** Compiles the uploads of a form, or of a flow that has its own. */
export function compileUploads(
  compiling: Compiling,
  forms: readonly PrepareForm[] | undefined,
  at: Path,
): Upload[] {
  return (forms ?? []).map((each, i) => {
    const path = [...at, "prepare", i];
    return compiling.part(path, () => compileUpload(compiling, each, path));
  });
}

function compileUpload(compiling: Compiling, form: PrepareForm, path: Path): Upload {
  return {
    name: path.join("."),
    roles: new Set(form.roles),
    call: compileCall(compiling, form, names.OF_UPLOAD, path),
    isRaw: form.bytes === true,
    gives: compileOperation(compiling, form.gives, names.OF_UPLOADED, [...path, "gives"]),
    lifetimeMs: form.lifetime_seconds === undefined ? DAY_MS : form.lifetime_seconds * 1000,
  };
}

function compileSubmit(compiling: Compiling, form: SubmitForm, path: Path): Submission {
  const answer = names.OF_SUBMITTED;
  if (form.idempotent !== undefined) checkHeaderNames(compiling, [form.idempotent], [...path, "idempotent"]);
  const cost = compileCost(compiling, form, answer, path);
  const making = compileMaking(compiling, form, answer, path, cost);
  const operation =
    form.operation && compileOperation(compiling, form.operation, answer, [...path, "operation"]);
  if (making === undefined && operation === undefined)
    compiling.report(path, "gives neither an operation nor outputs");
  const [call, readsHook] = compiling.reading("hook", () =>
    compileCall(compiling, form, names.OF_REQUEST, path),
  );
  return {
    ...{ call, readsHook, inline: form.inline, idempotent: form.idempotent, operation, making, cost },
    takesBytes: form.outputs?.bytes === true,
    pollAfter: optional(compiling, form.poll_after, answer, [...path, "poll_after"]),
  };
}

function compilePoll(
  compiling: Compiling,
  form: NonNullable<Flow["poll"]>,
  hasResult: boolean,
  path: Path,
): Question {
  const question = compileQuestion(compiling, form, names.OF_JOB, names.OF_JOB_ANSWER, path);
  const answer = names.OF_JOB_ANSWER;
  if (question.making === undefined && !hasResult)
    compiling.report(path, "has a word for succeeded and no outputs; give outputs, or a result to ask for");
  const isSuccess = Object.values(form.words).includes("succeeded");
  if (!isSuccess) compiling.report([...path, "words"], 'has no word that means "succeeded"');
  return {
    ...question,
    progress: optional(compiling, form.progress, answer, [...path, "progress"]),
    pollAfter: optional(compiling, form.poll_after, answer, [...path, "poll_after"]),
  };
}

function compileQuestion(
  compiling: Compiling,
  form: ReadForm,
  ask: ReadonlySet<string>,
  answer: ReadonlySet<string>,
  path: Path,
): Question {
  const statuses = form.answers && new Set(form.answers);
  const words = new Map(
    Object.entries(form.words ?? {}).map(([word, meaning]) => [
      word,
      compileWord(compiling, meaning, answer, [...path, "words", word]),
    ]),
  );
  const value = (name: "status" | "code" | "message") =>
    optional(compiling, form[name], answer, [...path, name]);
  const cost = compileCost(compiling, form, answer, path);
  return {
    call: compileCall(compiling, form, ask, path),
    speaks: (status) => (statuses === undefined ? isSuccess(status) : statuses.has(status)),
    wordOf: (word) => words.get(word),
    ...{ status: value("status"), code: value("code"), message: value("message") },
    ...{ progress: undefined, pollAfter: undefined },
    ...{ cost, making: compileMaking(compiling, form, answer, path, cost) },
    takesBytes: form.outputs?.bytes === true,
  };
}

function compileWord(compiling: Compiling, form: WordForm, answer: ReadonlySet<string>, path: Path): Word {
  if (typeof form === "string") return { kind: form };
  if ("lost_after_seconds" in form) return { kind: "lost", afterMs: form.lost_after_seconds * 1000 };
  const meaning = compiling.value(form.failed, answer, [...path, "failed"]);
  const charged = compiling.value(form.charged ?? false, answer, [...path, "charged"]);
  if (!form.failed.includes("${") && !isMeaning(form.failed))
    compiling.report([...path, "failed"], `has no meaning "${form.failed}"${nearMeaning(form.failed)}`);
  return {
    kind: "failed",
    meaning(scope) {
      const word = tryEvaluate(meaning, scope);
      return isMeaning(word) ? word : "broken";
    },
    isCharged: (scope) => tryEvaluate(charged, scope) === true,
  };
}

function compileCancel(compiling: Compiling, form: CancelForm, path: Path): Cancel {
  const call = compileCall(compiling, form, names.OF_JOB, path);
  return { call, while: form.while && new Set(form.while) };
}

function compileRecovery(compiling: Compiling, form: RecoverForm, path: Path): Recovery {
  const answer = names.OF_SUBMITTED;
  const { found, absent_when: absent } = form;
  return {
    call: compileCall(compiling, form, names.OF_REQUEST, path),
    found:
      typeof found === "string"
        ? compiling.value(found, answer, [...path, "found"])
        : compileOperation(compiling, found, answer, [...path, "found"]),
    isAbsent: compileRule(compiling, absent, answer, [...path, "absent_when"]),
    namesRefusal: absent.status !== undefined || absent.code !== undefined,
  };
}

function optional(
  compiling: Compiling,
  text: string | undefined,
  allowed: ReadonlySet<string>,
  path: Path,
): Value | undefined {
  return text === undefined ? undefined : compiling.value(text, allowed, path);
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}
