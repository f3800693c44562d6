import type { Path } from "../../toolkit/schema-problems.ts";
import { type BreakOrders, breakingOrders } from "../kit/prompt-escapes.ts";
import { type Auth, compileAuth } from "./auth.ts";
import { type Call, compileCall } from "./call.ts";
import { Compiling, type FormProblem } from "./compiling.ts";
import { type CompiledFlow, compileFlow, compileUploads } from "./flow.ts";
import type { AuthForm, Form } from "./form.ts";
import { checkHeaderNames } from "./header-names.ts";
import * as names from "./names.ts";
import { compileRefusals, type Refusals } from "./refusals.ts";
import type { Value } from "./value.ts";

/** A form, ready for use. */
export interface CompiledForm {
  readonly form: Form;
  /** SHA-256 of its text, by which tasks name it. */
  readonly hash: string;
  readonly flows: readonly CompiledFlow[];
  /** Requests that it would silently change, and the change. */
  readonly refuses: readonly { readonly applies: Value; readonly because: string }[];
  /** One for each kind of account. */
  readonly auth: readonly Auth[];
  readonly refusals: Refusals;
  /** Whether a success by HTTP is one; absent where HTTP alone tells. */
  readonly isOk: Value | undefined;
  /** Headers of every call. */
  readonly headers: Value | undefined;
  readonly test: TestCall | undefined;
  /** How its calls are signed, where that is by a secret. */
  readonly webhookSecret: WebhookSecret | undefined;
  /** Whether any expression reads the request in the words of its route. */
  readonly readsFields: boolean;
  /** Takes `prompt_escapes` from what a caller wrote. */
  readonly breakOrders: BreakOrders;
}

/** The cheapest call that proves key, region and balance. */
export interface TestCall {
  readonly call: Call;
  readonly ok: Value | undefined;
  readonly balance: Value | undefined;
}

/** The call that gives the secret by which calls of the upstream are signed. */
export interface WebhookSecret {
  readonly call: Call;
  readonly secret: Value;
}

/** A form whose expressions cannot be used. */
export class FormError extends Error {
  override readonly name = "FormError";
  constructor(readonly problems: readonly FormProblem[]) {
    super(problems.map(({ path, problem }) => `${path.join(".")} ${problem}`).join("\n"));
  }
}

/** Compiles every expression of a form. @throws FormError with every problem */
export function compileForm(form: Form, hash: string): CompiledForm {
  const compiling = new Compiling();
  const compiled = compileParts(compiling, form, hash);
  if (compiling.problems.length > 0) throw new FormError(compiling.problems);
  return compiled;
}

/** What is wrong with the parts of a form that may not have the shape of one, as far as it can be told. */
export function partProblems(form: Form): FormProblem[] {
  const compiling = new Compiling();
  try {
    compileParts(compiling, form, "");
  } catch {
    // A part is not what its name says, which its schema tells. What was found until there counts.
  }
  return compiling.problems;
}

function compileParts(compiling: Compiling, form: Form, hash: string): CompiledForm {
  const uploads = compileUploads(compiling, form.prepare, []);
  const flows = Object.entries(form.flows ?? { "": {} }).map(([name, flow]) =>
    compileFlow(compiling, flow, { form, uploads }, name),
  );
  const kinds = authsOf(form);
  const auth = kinds.map((kind, i) =>
    compiling.part(["auth"], () => compileAuth(compiling, kind, authPath(form, i))),
  );
  checkHeaderNames(compiling, Object.keys(form.headers ?? {}), ["headers"]);
  const { test, webhook: { standard } = {} } = form;
  const testValue = (name: "ok" | "balance") => {
    const text = test?.[name];
    return text === undefined ? undefined : compiling.value(text, names.OF_ANSWER, ["test", name]);
  };
  return {
    ...{ form, hash, flows, auth },
    refuses: (form.refuses ?? []).map(({ if: condition, because }, i) => ({
      applies: compiling.value(condition, names.OF_REQUEST, ["refuses", i, "if"]),
      because,
    })),
    refusals: compiling.part(["refusals"], () =>
      compileRefusals(compiling, form.refusals, { tables: form.tables ?? {} }),
    ),
    isOk: form.envelope && compiling.value(form.envelope.ok, names.OF_ANSWER, ["envelope", "ok"]),
    headers: form.headers && compiling.value(form.headers, names.OF_ANY, ["headers"]),
    test: test && {
      call: compileCall(compiling, test, names.OF_ANY, ["test"]),
      ...{ ok: testValue("ok"), balance: testValue("balance") },
    },
    webhookSecret: standard && {
      call: compileCall(compiling, standard, names.OF_ANY, ["webhook", "standard"]),
      secret: compiling.value(standard.secret, names.OF_ANSWER, ["webhook", "standard", "secret"]),
    },
    readsFields: compiling.names.has("fields"),
    breakOrders: breakingOrders(form.prompt_escapes ?? []),
  };
}

/** The kinds of account that a form knows; the first whose secrets an account has is used. */
export function authsOf({ auth }: Pick<Form, "auth">): readonly AuthForm[] {
  return Array.isArray(auth) ? (auth as readonly AuthForm[]) : [auth as AuthForm];
}

/** Where one of these kinds stands. */
export function authPath({ auth }: Pick<Form, "auth">, i: number): Path {
  return Array.isArray(auth) ? ["auth", i] : ["auth"];
}
