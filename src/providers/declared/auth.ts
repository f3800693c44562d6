import type { Clock } from "../../domain/ports/runtime.ts";
import type { Path } from "../../toolkit/schema-problems.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import type { Credentials, Signed, SignedRequest, UnsignedRequest } from "../kit/credentials.ts";
import type { NoAnswer } from "../kit/http.ts";
import { compileCall, type WordedCall, wordCall } from "./call.ts";
import type { Compiling } from "./compiling.ts";
import type { Scope } from "./expression.ts";
import type { AuthForm, JwtForm, SignForm } from "./form.ts";
import { checkHeaderNames } from "./header-names.ts";
import { answerScope, numberIn, textIn } from "./reading.ts";
import { type SigningKeys, signAws, signVolc } from "./signatures.ts";
import { createTokens, type Token } from "./tokens.ts";
import type { Value } from "./value.ts";

/** The inputs of a request's credentials. */
export interface Minting {
  readonly clock: Clock;
  /** The account's, by the form's own names. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly region: string | undefined;
  /** Sends a call for a token, without credentials. @throws NoAnswer, also when it is refused */
  send(call: WordedCall, signal: AbortSignal): Promise<UpstreamAnswer>;
  /** The error for an answer that contains no token. */
  refused(answer: UpstreamAnswer): NoAnswer;
  /** Removes a minted secret from every error of these calls. */
  keep(secret: string): void;
}

export interface Auth {
  /** The names of the secrets that it takes, and the customary variable of each. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether it works without any secret. */
  readonly isOptional: boolean;
  /** Whether tokens or signatures depend on the time. */
  readonly isTimed: boolean;
  open(minting: Minting): OpenAuth;
}

export interface OpenAuth {
  readonly credentials: Credentials;
  /** Drops the token of a request whose credentials the upstream has refused. @returns whether others may be accepted */
  forget(refused: SignedRequest): boolean;
}

/** A token is no longer used this long before it expires. */
const BEFORE_END_MS = 60_000;
const USUAL_LIFE_MS = 600_000;

/** Names and variables of the secrets of one kind of account. */
export function variablesOf({ key_env, env }: AuthForm): Readonly<Record<string, string>> {
  return { ...env, ...(key_env === undefined ? {} : { key: key_env }) };
}

export function compileAuth(compiling: Compiling, form: AuthForm, path: Path): Auth {
  const variables = variablesOf(form);
  const secrets = new Set([...Object.keys(variables), "now", "region"]);
  const isTimed = form.jwt !== undefined || form.aws_sigv4 !== undefined || form.volc_v4 !== undefined;
  const isOptional = form.none === true;
  const isNothing = isOptional && Object.keys(form).length === 1;
  const open = isNothing ? openNothing : compileKind(compiling, form, secrets, path);
  return {
    ...{ variables, isOptional, isTimed },
    open: (minting) =>
      isOptional && Object.keys(minting.secrets).length === 0 ? openNothing() : open(minting),
  };
}

type Open = (minting: Minting) => OpenAuth;

const openNothing = (): OpenAuth => ({ credentials: {}, forget: () => false });

function compileKind(compiling: Compiling, form: AuthForm, secrets: ReadonlySet<string>, path: Path): Open {
  if (form.basic !== undefined) return compileBasic(compiling, form.basic, secrets, [...path, "basic"]);
  if (form.aws_sigv4 !== undefined)
    return compileSigned(compiling, form.aws_sigv4, secrets, [...path, "aws_sigv4"], signAws);
  if (form.volc_v4 !== undefined)
    return compileSigned(compiling, form.volc_v4, secrets, [...path, "volc_v4"], signVolc);
  if (form.header !== undefined) checkHeaderNames(compiling, [form.header], [...path, "header"]);
  const mint = compileMint(compiling, form, secrets, path);
  const usual = mint === undefined ? "${key}" : form.query === undefined ? "Bearer ${token}" : "${token}";
  const text = mint === undefined || form.token === undefined ? (form.value ?? usual) : (form.send ?? usual);
  const names = mint === undefined ? secrets : new Set([...secrets, "token"]);
  const value = compiling.value(text, names, [...path, form.send === undefined ? "value" : "send"]);
  return (minting) => {
    const { query, header = "Authorization" } = form;
    const place = (worded: string): Signed =>
      query === undefined ? { headers: { [header]: worded } } : { query: { [query]: worded } };
    if (mint === undefined) {
      const worded = textOf(value, scopeOf(minting));
      return { credentials: () => Promise.resolve(place(worded)), forget: () => false };
    }
    const tokens = createTokens(minting.clock, (signal) => mint(minting, signal));
    return {
      credentials: async (_request, signal) =>
        place(textOf(value, { ...scopeOf(minting), token: await tokens.current(signal) })),
      forget({ headers, url }) {
        const sent = query === undefined ? headers.get(header) : url.searchParams.get(query);
        return tokens.forget((text) => sent?.includes(text) === true);
      },
    };
  };
}

function compileBasic(
  compiling: Compiling,
  form: NonNullable<AuthForm["basic"]>,
  secrets: ReadonlySet<string>,
  path: Path,
): Open {
  const user = compiling.value(form.user, secrets, [...path, "user"]);
  const password = compiling.value(form.password, secrets, [...path, "password"]);
  return (minting) => {
    const scope = scopeOf(minting);
    const pair = Buffer.from(`${textOf(user, scope)}:${textOf(password, scope)}`).toString("base64");
    // Treated like a minted secret: the pair is another form of the secrets, and must not appear in an error either.
    const signed: Signed = { headers: { Authorization: `Basic ${pair}` } };
    return { credentials: () => Promise.resolve(signed), forget: () => false };
  };
}

type Mint = (minting: Minting, signal: AbortSignal) => Promise<Token>;

function compileMint(
  compiling: Compiling,
  form: AuthForm,
  secrets: ReadonlySet<string>,
  path: Path,
): Mint | undefined {
  const { jwt, oauth, token } = form;
  if (jwt !== undefined) return compileJwt(compiling, jwt, secrets, [...path, "jwt"]);
  if (token !== undefined) {
    const { value, expires_in, ...call } = token;
    return compileTokenCall(compiling, call, { value, expires_in }, secrets, [...path, "token"]);
  }
  if (oauth === undefined) return undefined;
  const at = [...path, "oauth"];
  const { token_url, client_id, client_secret, scope, assertion } = oauth;
  const signed = assertion && compileJwt(compiling, assertion, secrets, [...at, "assertion"]);
  const fields = {
    grant_type:
      assertion === undefined ? "client_credentials" : "urn:ietf:params:oauth:grant-type:jwt-bearer",
    ...{ client_id, client_secret, scope },
    ...(assertion && { assertion: "${assertion}" }),
  };
  const given = Object.entries(fields).filter(([, text]) => text !== undefined);
  const names = assertion === undefined ? secrets : new Set([...secrets, "assertion"]);
  // A value that is no address is reported by the check of addresses.
  const post = /^(?:\/|https:\/\/)/.test(token_url) ? token_url : "/";
  const call = { post, form: Object.fromEntries(given) };
  const answer = { value: "${body.access_token}", expires_in: "${body.?expires_in}" };
  const mint = compiling.moved(
    ([...steps]) => [...at, ...asWritten(steps.slice(at.length))],
    () => compileTokenCall(compiling, call, answer, names, at),
  );
  if (signed === undefined) return mint;
  return async (minting, signal) => {
    const { text } = await signed(minting, signal);
    minting.keep(text);
    return mint({ ...minting, secrets: { ...minting.secrets, assertion: text } }, signal);
  };
}

/** Where the parts of a call for an OAuth token are in the form. */
function asWritten([part, ...rest]: Path): Path {
  if (part === "post") return ["token_url", ...rest];
  return part === "form" ? rest : [...(part === undefined ? [] : [part]), ...rest];
}

function compileTokenCall(
  compiling: Compiling,
  form: Parameters<typeof compileCall>[1],
  answer: { readonly value: string; readonly expires_in?: string | undefined },
  secrets: ReadonlySet<string>,
  path: Path,
): Mint {
  const call = compileCall(compiling, form, secrets, path);
  const known = new Set(["status", "headers", "body"]);
  const value = compiling.value(answer.value, known, [...path, "value"]);
  const life =
    answer.expires_in === undefined
      ? undefined
      : compiling.value(answer.expires_in, known, [...path, "expires_in"]);
  return async (minting, signal) => {
    const worded = await wordCall(call, scopeOf(minting));
    const given = await minting.send(worded, signal);
    const scope = answerScope(given);
    const seconds = numberIn(life, scope);
    const lifeMs = seconds === undefined ? USUAL_LIFE_MS : seconds * 1000;
    const text = textIn(value, scope);
    if (text === undefined) throw minting.refused(given);
    minting.keep(text);
    return { text, untilMs: usedUntil(minting.clock.now(), lifeMs) };
  };
}

function compileJwt(compiling: Compiling, form: JwtForm, secrets: ReadonlySet<string>, path: Path): Mint {
  const key = compiling.value(form.key, secrets, [...path, "key"]);
  const claims = compiling.value(form.claims, secrets, [...path, "claims"]);
  const headers = compiling.value(form.headers ?? {}, secrets, [...path, "headers"]);
  return async (minting) => {
    const { SignJWT, importPKCS8 } = await import("jose");
    const scope = scopeOf(minting);
    // A mapping of the form gives a mapping.
    const payload = claims.evaluate(scope) as Record<string, unknown>;
    const secret = textOf(key, scope);
    const signing =
      form.alg === "HS256" ? new TextEncoder().encode(secret) : await importPKCS8(secret, form.alg);
    const header = { ...(headers.evaluate(scope) as Record<string, string>), alg: form.alg, typ: "JWT" };
    const text = await new SignJWT(payload).setProtectedHeader(header).sign(signing);
    const now = minting.clock.now();
    const lifeMs = typeof payload.exp === "number" ? payload.exp * 1000 - now : USUAL_LIFE_MS;
    return { text, untilMs: usedUntil(now, lifeMs) };
  };
}

/** Shortly before the end; a token of a short life is used for half of it. */
function usedUntil(now: number, lifeMs: number): number {
  return now + Math.max(lifeMs - BEFORE_END_MS, lifeMs / 2, 0);
}

type Sign = (request: UnsignedRequest, keys: SigningKeys, now: number) => Promise<Signed>;
function compileSigned(
  compiling: Compiling,
  form: SignForm,
  secrets: ReadonlySet<string>,
  path: Path,
  sign: Sign,
): Open {
  const value = (name: keyof SignForm) => compiling.value(form[name] ?? "", secrets, [...path, name]);
  const [service, region] = [value("service"), value("region")];
  const [accessKey, secretKey, session] = [value("access_key"), value("secret_key"), value("session_token")];
  return (minting) => {
    const scope = scopeOf(minting);
    const keys = {
      ...{ service: textOf(service, scope), region: textOf(region, scope) },
      ...{ accessKey: textOf(accessKey, scope), secretKey: textOf(secretKey, scope) },
      sessionToken: form.session_token === undefined ? undefined : textOf(session, scope),
    };
    return { credentials: (request) => sign(request, keys, minting.clock.now()), forget: () => false };
  };
}

function scopeOf({ secrets, clock, region }: Minting): Scope {
  return { ...secrets, now: BigInt(Math.floor(clock.now() / 1000)), region: region ?? "" };
}

function textOf(value: Value, scope: Scope): string {
  const text = value.evaluate(scope);
  if (typeof text === "string" && text !== "") return text;
  throw new Error("the credentials come to no text; a secret lacks something");
}
