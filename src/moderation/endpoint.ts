import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { type Egress, EgressError } from "../domain/ports/egress.ts";
import type { Check, CheckVerdict, ModeratedRequest } from "../domain/ports/moderation.ts";
import { type After, orAborted } from "../toolkit/deadline.ts";
import { type AskedOptions, askedCheck, NoVerdict, reasonIn } from "./asked.ts";

export interface EndpointOptions extends AskedOptions {
  readonly url: string;
  readonly key?: { readonly reveal: () => string } | undefined;
  readonly model?: string | undefined;
  /** Refused are texts of these categories; with neither these nor thresholds, texts that are flagged. */
  readonly categories: readonly string[];
  /** Refused are texts that score as much, by category. */
  readonly thresholds: Readonly<Record<string, number>>;
}

export interface EndpointDeps {
  readonly egress: Pick<Egress, "ask">;
  readonly after: After;
}

/** Most of an answer that is read: a result has 2 KB, and a request has few texts. */
const MOST_BYTES = 1024 * 1024;

/** A check that asks an endpoint which answers as the moderations of the images API's maker do: `results[].flagged`. */
export function endpointCheck(options: EndpointOptions, deps: EndpointDeps): Check {
  const { url, key, model } = options;
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key.reveal()}` };
  return askedCheck(options, deps, async ({ texts }, signal) => {
    const input = texts.length === 1 ? texts[0]?.text : texts.map(({ text }) => text);
    const body = JSON.stringify({ input, ...(model === undefined ? {} : { model }) });
    const asked = deps.egress.ask(url, { body, headers }, { maxBytes: MOST_BYTES, signal });
    const answer = await orAborted(asked, signal).catch(unasked);
    if (answer.status !== 200) throw new NoVerdict(`answered with status ${answer.status}`);
    return verdictOf(resultsOf(answer.body, texts.length), texts, options);
  });
}

function unasked(error: unknown): never {
  throw error instanceof EgressError ? new NoVerdict(error.message, { cause: error }) : error;
}

/** One result for each text. */
function resultsOf(body: Uint8Array, count: number): readonly JsonObject[] {
  let answer: unknown;
  try {
    answer = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new NoVerdict("answered with what is no JSON");
  }
  const results: unknown = isJsonObject(answer) ? answer.results : undefined;
  if (!Array.isArray(results) || results.length !== count || !results.every(isJsonObject))
    throw new NoVerdict("answered without a result for each text");
  return results;
}

function verdictOf(
  results: readonly JsonObject[],
  texts: ModeratedRequest["texts"],
  options: Pick<EndpointOptions, "categories" | "thresholds">,
): CheckVerdict {
  for (const [i, result] of results.entries()) {
    const found = foundIn(result, options);
    if (found !== undefined)
      return { kind: "refused", rule: reasonIn(found) ?? "flagged", field: texts[i]?.field };
  }
  return { kind: "allowed" };
}

/** The category that a text is refused for; undefined where it is not. */
function foundIn(
  { flagged, categories, category_scores: scores }: JsonObject,
  options: Pick<EndpointOptions, "categories" | "thresholds">,
): string | undefined {
  const limits = Object.entries(options.thresholds);
  if (options.categories.length + limits.length === 0) {
    if (typeof flagged !== "boolean") throw new NoVerdict("answered without `flagged`");
    return flagged ? (trueIn(categories) ?? "flagged") : undefined;
  }
  const isFound = (name: string) => memberOf(categories, name, "boolean") === true;
  const isAbove = ([name, least]: [string, number]) => Number(memberOf(scores, name, "number")) >= least;
  // All are read before one decides, so that a wrong name is noticed.
  const found = [...options.categories.filter(isFound), ...limits.filter(isAbove).map(([name]) => name)];
  return found[0];
}

function trueIn(categories: unknown): string | undefined {
  return isJsonObject(categories)
    ? Object.keys(categories).find((name) => categories[name] === true)
    : undefined;
}

function memberOf(of: unknown, name: string, type: "boolean" | "number"): unknown {
  const value = isJsonObject(of) && Object.hasOwn(of, name) ? of[name] : undefined;
  if (typeof value === type) return value;
  throw new NoVerdict(`answered without the category "${name}"`);
}
