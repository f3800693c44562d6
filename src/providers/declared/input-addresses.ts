import { type CallForm, type Form, METHODS } from "./form.ts";
import { expressionsIn, readingOfExpressions } from "./places.ts";

const known = new WeakMap<Form, boolean>();

/** Whether an upstream takes files only by addresses that it can reach, in each flow that takes files. */
export function needsAddresses(form: Form): boolean {
  // Each account of a form asks.
  return known.getOrInsertComputed(form, findNeed);
}

function findNeed(form: Form): boolean {
  const flows = Object.values<Pick<Form, "submit" | "prepare">>(form.flows ?? { "": {} }).map((flow) => {
    const { submit = form.submit ?? {}, prepare = form.prepare ?? [] } = flow;
    return { hasUploads: prepare.length > 0, sources: [submit, ...prepare].flatMap(sourcesOf) };
  });
  // Parsing takes time, and few forms have such an expression.
  if (!flows.some(({ sources }) => sources.some((source) => MAYBE.test(source)))) return false;
  const taking = flows.filter(({ hasUploads, sources }) => hasUploads || readsFiles(sources));
  return taking.length > 0 && taking.every(({ sources }) => sources.some(needsAddress));
}

const MAYBE = /\burl\b/;

/** The expressions that word a call. */
function sourcesOf(call: CallForm): string[] {
  const { headers, query, json, form, multipart } = call;
  return expressionsIn([METHODS.map((method) => call[method]), headers, query, json, form, multipart]);
}

/** `fields` has the inputs in the words of a route. */
const FILES: ReadonlySet<string> = new Set(["file", "input"]);

function readsFiles(sources: readonly string[]): boolean {
  return readingOfExpressions(sources).places.some(({ root }) => FILES.has(root) || root === "fields");
}

/** Whether an expression calls `url(…)`, or has `.url` of a file with nothing in its place. */
function needsAddress(source: string): boolean {
  if (!MAYBE.test(source)) return false;
  const { functions, places } = readingOfExpressions([source]);
  const addresses = places.filter(({ root, steps }) => FILES.has(root) && steps.at(-1) === "url");
  return functions.has("url") || (addresses.length > 0 && addresses.every(({ isOptional }) => !isOptional));
}
