import { isJsonObject, type Json } from "../../../domain/json.ts";
import { type ProviderAdapter, ProviderError } from "../../../domain/ports/provider.ts";
import type { Clock } from "../../../domain/ports/runtime.ts";
import type { ExampleForm, Form } from "../form.ts";
import {
  endingOf,
  placed,
  REHEARSED_SECRET,
  type RehearsalDeps,
  rehearsedProvider,
  requestOf,
} from "./example.ts";
import {
  MADE_PATH,
  type RehearsedAnswer,
  type RehearsedUpstream,
  startRehearsedUpstream,
} from "./upstream.ts";

/** What a form gets wrong when its upstream has trouble. */
export interface Shortcoming {
  /** The example that the trouble came up in. */
  readonly example: string;
  readonly message: string;
}

type Answers = readonly RehearsedAnswer[];
type Check = (rehearsal: Rehearsal) => Promise<string | undefined>;

/** A status word that no upstream has. */
const NO_WORD = "a-word-that-nobody-knows";

/**
 * Tries a form against an upstream that is busy, fails, loses answers, cuts them off, says words that nobody knows and names other
 * hosts: once for each of its examples that succeeds. What counts is what a coded provider must do too.
 */
export async function rehearseContract(form: Form, deps: RehearsalDeps): Promise<Shortcoming[]> {
  const found: Shortcoming[] = [];
  for (const example of form.examples ?? []) {
    if (example.ends !== "succeeded") continue;
    await using rehearsal = await openRehearsal(form, example, deps.clock);
    for (const check of CHECKS) {
      const message = await check(rehearsal);
      if (message !== undefined) found.push({ example: example.name, message });
    }
  }
  return found;
}

async function openRehearsal(form: Form, example: ExampleForm, clock: Clock): Promise<Rehearsal> {
  const left: RehearsedAnswer[] = [];
  const upstream = await startRehearsedUpstream((_request, origin) => {
    const next = (left.length > 1 ? left.shift() : left[0]) ?? { status: 500 };
    return next.cut === true ? next : (placed(next, origin, form) as RehearsedAnswer);
  });
  return new Rehearsal(form, example, clock, upstream, left);
}

/** One example, to be run with other answers. */
class Rehearsal {
  constructor(
    readonly form: Form,
    readonly example: ExampleForm,
    readonly clock: Clock,
    readonly upstream: RehearsedUpstream,
    /** What the upstream answers next. */
    readonly left: RehearsedAnswer[],
  ) {}

  [Symbol.asyncDispose](): Promise<void> {
    return this.upstream.stop();
  }

  get answers(): Answers {
    return this.example.answers;
  }

  /** Which call of the example submits: uploads and calls for tokens come before it. */
  get submitAt(): number {
    return Math.max(0, this.answers.length - 1 - this.#callsAfterSubmit());
  }

  /** Whether the upstream is asked after the job. */
  get isJob(): boolean {
    return this.#callsAfterSubmit() > 0;
  }

  #callsAfterSubmit(): number {
    const calls = this.example.answers.length;
    const flows = Object.values(this.form.flows ?? {});
    const isPossible = [this.form, ...flows].some(({ submit }) => submit?.operation !== undefined);
    const before = this.#uploads() + this.#tokens();
    return isPossible ? Math.max(0, calls - 1 - before) : 0;
  }

  #uploads(): number {
    const uploads = this.form.prepare ?? [];
    const roles = this.example.request.inputs ?? [];
    return uploads.reduce(
      (sum, { roles: own }) => sum + roles.filter((role) => own.includes(role)).length,
      0,
    );
  }

  #tokens(): number {
    const [first] = [this.form.auth].flat();
    return first !== undefined && ("token" in first || "oauth" in first) ? 1 : 0;
  }

  /** Runs the example with these answers, the last one for ever. */
  run<T>(
    answers: Answers,
    work: (provider: ProviderAdapter, upstream: RehearsedUpstream) => Promise<T>,
  ): Promise<T> {
    const { upstream, left } = this;
    left.splice(0, left.length, ...answers);
    upstream.arrived.length = 0;
    return work(rehearsedProvider(this.form, upstream.origin, this.clock), upstream);
  }

  /** The error of a submission that is answered so, and how many requests arrived. */
  submission(answer: RehearsedAnswer): Promise<{ readonly error: unknown; readonly arrived: number }> {
    const answers = [...this.answers.slice(0, this.submitAt), answer];
    return this.run(answers, async (provider, upstream) => {
      const request = requestOf(this.example, this.form.provider);
      const error = await failureOf(provider.submit(request, new AbortController().signal));
      return { error, arrived: upstream.arrived.length };
    });
  }

  /** What a question about the job comes to when it is answered so. */
  question(answer: RehearsedAnswer): Promise<unknown> {
    const answers = [...this.answers.slice(0, this.submitAt + 1), answer];
    return this.run(answers, async (provider) => {
      const { signal } = new AbortController();
      const request = requestOf(this.example, this.form.provider);
      const submitted = await provider.submit(request, signal).catch((error: unknown) => error as Error);
      if (submitted instanceof Error) return submitted;
      if (submitted.kind !== "operation") return undefined;
      const operation = JSON.parse(JSON.stringify(submitted.operation)) as Json;
      return provider.poll?.(operation, signal).catch((error: unknown) => error);
    });
  }
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const CHECKS: readonly Check[] = [
  refusedSubmission({ status: 429, headers: { "retry-after": "7" }, body: {} }, ["retry"], "is busy (429)"),
  refusedSubmission({ status: 503, body: "" }, ["retry", "unknown"], "is not available (503)"),
  refusedSubmission({ status: 401, body: {} }, ["reroute"], "refuses the key (401)"),
  refusedSubmission({ status: 500, body: "" }, ["unknown", "retry"], "fails (500)"),
  lostAnswer,
  troubledQuestion({ status: 503, body: "" }, "is not available (503)"),
  troubledQuestion({ status: 429, body: {} }, "is busy (429)"),
  troubledQuestion({ status: 401, body: {} }, "refuses the key (401)"),
  troubledQuestion({ body: '{"cut', headers: { "content-type": "application/json" } }, "cuts its answer off"),
  unknownWord,
  strangeHost,
];

/** How many kinds of trouble each example is tried with. */
export const TROUBLES: number = CHECKS.length;

function refusedSubmission(answer: RehearsedAnswer, wanted: readonly string[], what: string): Check {
  return async (rehearsal) => {
    const { error } = await rehearsal.submission(answer);
    return problemWith(error, wanted, `a submission while the upstream ${what}`);
  };
}

async function lostAnswer(rehearsal: Rehearsal): Promise<string | undefined> {
  const { error, arrived } = await rehearsal.submission({ cut: true });
  const what = "a submission whose answer is lost";
  if (arrived !== rehearsal.submitAt + 1) return `${what} is sent ${arrived - rehearsal.submitAt} times`;
  return problemWith(error, ["unknown"], what);
}

function troubledQuestion(answer: RehearsedAnswer, what: string): Check {
  return async (rehearsal) => {
    if (!rehearsal.isJob) return undefined;
    const end = await rehearsal.question(answer);
    return problemWith(end, ["retry"], `a question while the upstream ${what}`);
  };
}

async function unknownWord(rehearsal: Rehearsal): Promise<string | undefined> {
  const { form, example, submitAt } = rehearsal;
  const flows = [form, ...Object.values(form.flows ?? {})];
  const words = new Set(flows.flatMap(({ poll }) => Object.keys(poll?.words ?? {})));
  const answer = example.answers[submitAt + 1];
  const body = answer && withWord(answer.body, words);
  if (!rehearsal.isJob || answer === undefined || JSON.stringify(body) === JSON.stringify(answer.body))
    return undefined;
  const end = await rehearsal.question({ ...answer, body });
  const isPending = isJsonObject(end) && end.kind === "pending";
  return isPending ? undefined : `a status word that nobody knows ends the job: ${describe(end)}`;
}

/** An answer with another word in the place of each of the form's. */
function withWord(value: unknown, words: ReadonlySet<string>): unknown {
  if (typeof value === "string") return words.has(value) ? NO_WORD : value;
  if (Array.isArray(value)) return value.map((each) => withWord(each, words));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withWord(each, words)]));
}

/** Addresses in answers lead elsewhere: the key goes to no such place, and no file is fetched from there. */
async function strangeHost(rehearsal: Rehearsal): Promise<string | undefined> {
  const elsewhere = await startRehearsedUpstream(() => ({ status: 200, body: {} }));
  try {
    const strange = rehearsal.answers.map((answer) => led(answer, elsewhere.origin));
    if (JSON.stringify(strange) === JSON.stringify(rehearsal.answers)) return undefined;
    await rehearsal.run(strange as Answers, (provider) =>
      endingOf(provider, requestOf(rehearsal.example, rehearsal.form.provider), 3),
    );
    const count = elsewhere.arrived.length + elsewhere.served();
    return count === 0 ? undefined : `${count} requests went to a host that the form does not name`;
  } finally {
    await elsewhere.stop();
  }
}

function led(value: unknown, origin: string): unknown {
  if (typeof value === "string")
    return value.replaceAll("${base}", origin).replaceAll("${media}", `${origin}${MADE_PATH}/1`);
  if (Array.isArray(value)) return value.map((each) => led(each, origin));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, led(each, origin)]));
}

function problemWith(error: unknown, wanted: readonly string[], what: string): string | undefined {
  if (!(error instanceof ProviderError)) return `${what} comes to ${describe(error)}`;
  if (error.message.includes(REHEARSED_SECRET)) return `${what} shows the key in its error`;
  if (wanted.includes(error.disposition)) return undefined;
  return `${what} counts as ${error.disposition}, not ${wanted.join(" or ")}: ${error.message}`;
}

function describe(end: unknown): string {
  if (end instanceof Error) return `${end.name}: ${end.message}`;
  return isJsonObject(end) ? String(end.kind) : "a success";
}
