import type { Path } from "../../toolkit/schema-problems.ts";
import { createOriginCheck } from "../kit/origins.ts";
import { authPath, authsOf } from "./compiled-form.ts";
import type { FormProblem } from "./compiling.ts";
import { type CallForm, type Flow, type Form, METHODS } from "./form.ts";
import { isWhole, readTemplate, TemplateError } from "./template.ts";

/** Problems with the addresses of a form: they are misleading, or lead to places where the key may not be sent. */
export function addressProblems(form: Form): FormProblem[] {
  const regions = Object.entries(form.regions ?? {});
  const bases: [string, Path][] = [
    [form.base, ["base"]],
    ...regions.map(([name, base]): [string, Path] => [base, ["regions", name]]),
  ];
  const problems = [
    ...bases.flatMap(([text, path]) => problemWith(path, baseProblem(text))),
    ...(form.origins ?? []).flatMap((text, i) => problemWith(["origins", i], originProblem(text))),
    ...(form.media ?? []).flatMap((host, i) => problemWith(["media", i], hostProblem(host))),
    ...authsOf(form).flatMap(({ oauth }, i) =>
      oauth === undefined
        ? []
        : problemWith([...authPath(form, i), "oauth", "token_url"], tokenProblem(oauth.token_url)),
    ),
  ];
  // The places to which the key may be sent must be known before paths are checked.
  return problems.length > 0 ? problems : callProblems(form);
}

function problemWith(path: Path, problem: string | undefined): FormProblem[] {
  return problem === undefined ? [] : [{ path, problem }];
}

/** Every address that requests with the key may go to. */
function addressesOf({ base, regions = {}, origins = [] }: Form): string[] {
  return [base, ...Object.values(regions), ...origins];
}

/** Every literal address to which requests of a form may go, with its key in the form. Patterns are left out. */
export function reachedAddresses(form: Form): { readonly key: keyof Form; readonly address: string }[] {
  const { base, regions = {}, origins = [], media = [] } = form;
  const tokens = authsOf(form).flatMap(({ oauth }) => oauth?.token_url ?? []);
  const hosts = media.filter((host) => !SPECIAL_MEDIA.has(host)).map((host) => `https://${host}`);
  const all: [keyof Form, readonly string[]][] = [
    ["base", [base]],
    ["regions", Object.values(regions)],
    ["origins", origins],
    ["auth", tokens.filter((url) => !url.startsWith("/"))],
    ["media", hosts],
  ];
  return all.flatMap(([key, addresses]) =>
    addresses.filter((address) => !address.includes("*")).map((address) => ({ key, address })),
  );
}

const SPECIAL_MEDIA: ReadonlySet<string> = new Set(["own-with-key", "any-public"]);

function baseProblem(text: string): string | undefined {
  if (/\$\{|\*/.test(text)) return "must be written out; name other addresses in regions or origins";
  const url = URL.parse(text);
  if (url === null) return "is no address";
  return isAsWritten(text, url) ? undefined : `means ${url.href}; write it so`;
}

/** Whether an address is read as it is written: no dots that lead upwards, no backslashes, no host in other letters. */
function isAsWritten(text: string, { href }: URL): boolean {
  return href.replace(/\/$/, "") === text.replace(/\/+$/, "");
}

function originProblem(text: string): string | undefined {
  try {
    createOriginCheck([text]);
    return undefined;
  } catch {
    return "is no origin; write https://api.example.com, or https://*.example.com for every name below it";
  }
}

function hostProblem(host: string): string | undefined {
  if (host.startsWith("*.") && !host.slice(2).includes("."))
    return "takes in too many hosts; write *.example.com";
  if (SPECIAL_MEDIA.has(host)) return undefined;
  const name = host.replace(/^\*\./, "");
  return URL.parse(`https://${name}`)?.hostname === name ? undefined : "is no name of a host";
}

function tokenProblem(text: string): string | undefined {
  if (text.startsWith("/")) return undefined;
  if (text.startsWith("http://")) return "must begin with https://, because secrets are sent there";
  return /^https:\/\/[^\s?#@]+$/.test(text) ? baseProblem(text) : "must be an address, or a path below base";
}

const PARTS = ["submit", "poll", "result", "cancel", "recover"] as const satisfies (keyof Flow)[];

function callProblems(form: Form): FormProblem[] {
  const isOwn = createOriginCheck(
    addressesOf(form).map((text) => (text.includes("*") ? text : new URL(text).origin)),
  );
  const flows: [Flow & Pick<Form, "prepare">, Path][] = [
    [form, []],
    ...Object.entries(form.flows ?? {}).map(([name, flow]): [Flow, Path] => [flow, ["flows", name]]),
  ];
  const calls = flows.flatMap(([flow, at]) => [
    ...PARTS.map((part): [CallForm | undefined, Path] => [flow[part], [...at, part]]),
    ...(flow.prepare ?? []).map((each, i): [CallForm, Path] => [each, [...at, "prepare", i]]),
  ]);
  const tokens = authsOf(form).map(({ token }, i): [CallForm | undefined, Path] => [
    token,
    [...authPath(form, i), "token"],
  ]);
  const all: [CallForm | undefined, Path][] = [...calls, ...tokens, [form.test, ["test"]]];
  return all.flatMap(([call = {}, at]) =>
    METHODS.flatMap((method) => problemWith([...at, method], pathProblem(call[method], isOwn))),
  );
}

/** Steps upwards, a fragment, which is never sent, and what addresses do not hold. */
const ODD = /(?:^|\/)(?:\.|%2e){1,2}(?:[/?]|$)|[#\\\s]/i;

function pathProblem(text: string | undefined, isOwn: (url: URL | null) => boolean): string | undefined {
  if (text === undefined) return undefined;
  try {
    const template = readTemplate(text);
    // What an expression gives is checked when it is used.
    if (isWhole(template)) return undefined;
    const written = template.texts.join("x");
    if (ODD.test(written)) return 'has "." or ".." for a step, "#", a backslash or a space';
    const [first = ""] = template.texts;
    if (first.startsWith("//")) return 'begins with "//"; a path begins with one "/"';
    if (!/^https?:/i.test(first)) return undefined;
    if (isOwn(URL.parse(written)) && /^https?:\/\/[^/]+(?:\/|$)/.test(first)) return undefined;
    return "is at no address of base, regions or origins, so the key would not go there";
  } catch (error) {
    // Told where expressions are compiled.
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
