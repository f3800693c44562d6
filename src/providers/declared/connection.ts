import type { Clock } from "../../domain/ports/runtime.ts";
import type { DownloadLimits } from "../../toolkit/download.ts";
import { baseOf as accountBase } from "../account.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import {
  createUpstream,
  type HttpLimits,
  NoAnswer,
  type Upstream,
  type UpstreamOptions,
  type UpstreamRequest,
} from "../kit/http.ts";
import type { MediaSource } from "../kit/media.ts";
import type { Refusal } from "../kit/refusal.ts";
import type { OpenAuth } from "./auth.ts";
import { type Call, headersOf, type WordedCall, wordCall } from "./call.ts";
import { authsOf, type CompiledForm } from "./compiled-form.ts";
import type { Scope } from "./expression.ts";
import { ExpressionError } from "./fences.ts";
import type { Files } from "./files.ts";
import { isSuccess } from "./flow.ts";
import type { Form, LimitsForm } from "./form.ts";
import { answerScope, tryEvaluate } from "./reading.ts";

/** An account as its requests need it. */
export interface AccountAccess {
  /** By the form's own names. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly baseUrl?: string | undefined;
  readonly region?: string | undefined;
  readonly proxy?: string | undefined;
}

export interface ConnectionDeps extends Pick<UpstreamOptions, "network"> {
  readonly clock: Clock;
  /** Replaces the form's address, for tests. */
  readonly limits?: HttpLimits | undefined;
  readonly mediaLimits?: DownloadLimits | undefined;
  /** Told of each answer of the API; not of calls for tokens. */
  readonly onExchange?: UpstreamOptions["onExchange"];
}

/** One account at one address of a form's upstream. */
export interface Connection {
  readonly upstream: Upstream;
  readonly media: MediaSource;
  /** Whether outputs may be at any public host. */
  readonly isMediaAnywhere: boolean;
  /** Where an output is fetched that the upstream says is at a URL. */
  placeOf(url: string): string;
  /** Words a call and sends it. `scope` is what its expressions see. @throws ExpressionError, NoAnswer */
  ask(call: Call, scope: Scope, options: AskOptions, signal: AbortSignal): Promise<UpstreamAnswer>;
  /** Whether an answer is a success, also by the form's envelope. */
  isOk(answer: UpstreamAnswer): boolean;
  /** What expressions see in every call. */
  readonly scope: Scope;
}

export interface AskOptions {
  readonly files?: Files | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly takesBytes?: boolean | undefined;
  /** A body in place of the call's. */
  readonly body?: WordedCall["body"];
  readonly tracing?: UpstreamRequest["tracing"];
  /** Whether each of the files must be in the call, or have been uploaded before. */
  readonly mustUse?: boolean;
}

const SECOND_MS = 1_000;
const MIB = 1024 * 1024;
const OWN_WITH_KEY = "own-with-key";
const ANY_PUBLIC = "any-public";

/** The address of a form's API for an account. An address without a path is another origin for the form's own. */
export function baseOf(
  form: Pick<Form, "base" | "regions">,
  account: Omit<AccountAccess, "secrets">,
): string {
  const { region } = account;
  return accountBase(account, (region === undefined ? undefined : form.regions?.[region]) ?? form.base);
}

/**
 * Where an account reaches what the upstream names at the usual address of its API. An account with another address is at a relay, whose
 * key nobody else may have.
 */
function reached({ base: usual, regions = {} }: Form, base: string, text: string): string {
  const known = [usual, ...Object.values(regions)].map((each) => each.replace(/\/*$/, "/"));
  const beginning = known.find((each) => text.startsWith(each));
  if (beginning === undefined || known.includes(`${base}/`)) return text;
  return `${base}/${text.slice(beginning.length)}`;
}

/** Opens an account's way to the upstream of a form, at `base`. */
export function connect(
  compiled: CompiledForm,
  account: AccountAccess,
  base: string,
  deps: ConnectionDeps,
): Connection {
  const { form, isOk } = compiled;
  const scope: Scope = { tables: form.tables ?? {}, region: account.region ?? "" };
  const media = form.media ?? [];
  const auth = openAuth(compiled, account, base, deps);
  const upstream = createUpstream({
    ...optionsOf(form, account, base, deps),
    origins: form.origins,
    credentials: auth.credentials,
    onRefused: auth.forget,
    onExchange: deps.onExchange,
  });
  const maxBytes = (form.limits?.answer_mb ?? 64) * MIB;
  return {
    ...{ upstream, scope },
    media: {
      upstream,
      hosts: media.filter((host) => host !== OWN_WITH_KEY && host !== ANY_PUBLIC),
      withKey: media.includes(OWN_WITH_KEY),
      limits: deps.mediaLimits,
    },
    isMediaAnywhere: media.includes(ANY_PUBLIC),
    placeOf: (url) => (media.includes(OWN_WITH_KEY) ? reached(form, base, url) : url),
    async ask(call, given, options, signal) {
      const { files, headers = {}, takesBytes, body, mustUse, tracing } = options;
      const seen = { ...scope, now: BigInt(Math.floor(deps.clock.now() / SECOND_MS)), ...given };
      const worded = await wordCall(call, seen, files);
      const left = mustUse === true ? files?.firstUnused() : undefined;
      if (left !== undefined)
        throw new ExpressionError(`it has no place for the input that is a ${left.role}`);
      const own = headersOf(compiled.headers, seen);
      return upstream.send(
        {
          ...worded,
          body: body ?? worded.body,
          // A header that the call words itself counts before one of the same name.
          headers: { ...own, ...headers, ...worded.headers },
          ...{ maxBytes, tracing },
          bytes: takesBytes === true ? true : undefined,
        },
        signal,
      );
    },
    isOk: (answer) => isSuccess(answer.status) && (isOk === undefined || isTrue(isOk, answer, scope)),
  };
}

function isTrue(isOk: NonNullable<CompiledForm["isOk"]>, answer: UpstreamAnswer, scope: Scope): boolean {
  return answer.bytes !== undefined || tryEvaluate(isOk, { ...scope, ...answerScope(answer) }) === true;
}

function optionsOf(
  { provider, title = provider, limits }: Form,
  { secrets, proxy }: AccountAccess,
  baseUrl: string,
  { clock, network, limits: given }: ConnectionDeps,
): UpstreamOptions {
  return {
    ...{ name: title, baseUrl, clock, proxy, network, credentials: {} },
    secrets: Object.values(secrets),
    limits: given ?? httpLimitsOf(limits),
    requestIdHeaders: ["x-request-id", "request-id", "x-trace-id", "cf-ray"],
  };
}

/** An answer that contains the outputs takes as long as making them. */
function httpLimitsOf({
  connect_seconds = 15,
  answer_seconds = 300,
  body_seconds = 120,
}: LimitsForm = {}): HttpLimits {
  return {
    connectMs: connect_seconds * SECOND_MS,
    answerMs: answer_seconds * SECOND_MS,
    bodyMs: body_seconds * SECOND_MS,
  };
}

const TOKEN_BYTES = MIB;
const TOKEN_MS = 30 * SECOND_MS;

/** The first kind of account whose secrets are all there. */
function openAuth(
  compiled: CompiledForm,
  account: AccountAccess,
  base: string,
  deps: ConnectionDeps,
): OpenAuth {
  const { secrets, region } = account;
  const auth =
    compiled.auth.find(({ variables }) =>
      Object.keys(variables).every((name) => secrets[name] !== undefined),
    ) ?? compiled.auth.find(({ isOptional }) => isOptional);
  if (auth === undefined) throw new Error(`${compiled.form.provider}: the account lacks a secret`);
  // Tokens are asked for without credentials, where the form names an address for it, or where the key may go.
  const issuers = authsOf(compiled.form).flatMap(({ oauth }) => oauth?.token_url ?? []);
  const origins = issuers.filter((url) => !url.startsWith("/")).map((url) => new URL(url).origin);
  const options = optionsOf(compiled.form, account, base, deps);
  const issuer = createUpstream({
    ...{ ...options, limits: tokenLimits(options.limits), use: "token" },
    origins: [...origins, ...(compiled.form.origins ?? [])],
  });
  const refused = (answer: UpstreamAnswer) => noToken(compiled.refusals.read(issuer, answer));
  return auth.open({
    ...{ clock: deps.clock, region, secrets, keep: issuer.keepSecret, refused },
    async send(call, signal) {
      const answer = await issuer.send({ ...call, maxBytes: TOKEN_BYTES }, signal).catch(untold);
      if (isSuccess(answer.status)) return answer;
      throw refused(answer);
    },
  });
}

/** A token is requested at once, because every request waits for it. */
function tokenLimits({ connectMs, answerMs, bodyMs }: HttpLimits): HttpLimits {
  return { connectMs, answerMs: Math.min(answerMs, TOKEN_MS), bodyMs: Math.min(bodyMs, TOKEN_MS) };
}

function untold(error: unknown): never {
  if (!(error instanceof NoAnswer)) throw error;
  throw new NoAnswer(true, `no token: ${error.message}`, error.isLate);
}

/** No caller wrote the request for a token. Whatever is wrong with it, the cause is the key, as with a 401. */
function noToken({ meaning, status, ...told }: Refusal): NoAnswer {
  const isOfKey = meaning === "bad_input" || meaning === "moderated" || meaning === "refused";
  const read = isOfKey ? ({ meaning: "refused", status: 401 } as const) : { meaning, status };
  const detail = `no token: ${told.detail}`;
  return new NoAnswer(true, detail, false, { ...told, ...read, detail });
}
