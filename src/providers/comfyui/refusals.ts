import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { placesOf, SEED_SLOT, type Workflow } from "../../domain/model/workflow.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import { meaningOfStatus, meaningOfWord, refusalOf } from "../kit/classify.ts";
import type { Upstream } from "../kit/http.ts";
import type { Meaning, Refusal } from "../kit/refusal.ts";
import { readErrorWords, textIn } from "../kit/said.ts";

/**
 * What the server says of a graph that it does not run (execution.py `validate_prompt`, 2025-10; `missing_node_type` since 2026). No
 * caller wrote the graph, so the route is wrong.
 */
const WORDS: Readonly<Record<string, Meaning>> = {
  no_prompt: "refused",
  invalid_prompt: "refused",
  missing_node_type: "refused",
  prompt_no_outputs: "refused",
  prompt_outputs_failed_validation: "refused",
};

/** A fault of one input of one node. */
interface InputFault {
  readonly node: string;
  readonly classType: string;
  readonly input: string | undefined;
  readonly said: string;
}

/** A submission or an upload that the server refuses. @param workflow what was sent, for the fields that its faults come from */
export function readRefusal(upstream: Upstream, answer: UpstreamAnswer, workflow?: Workflow): Refusal {
  const refusal = read(upstream, answer, workflow);
  return { ...refusal, detail: plain(refusal.detail) };
}

function read(upstream: Upstream, answer: UpstreamAnswer, workflow: Workflow | undefined): Refusal {
  const { status, json, text } = answer;
  const words = readErrorWords(answer);
  const faults = isJsonObject(json) ? faultsIn(json.node_errors) : [];
  const word = words.type ?? words.code;
  const fields = workflow === undefined ? undefined : fieldsAtFault(workflow, faults);
  const [first] = faults;
  if (fields !== undefined) {
    const message = `${fields[0]}: ${first?.said}`;
    return refusalOf(upstream, answer, "bad_input", { word, message });
  }
  const meaning =
    meaningOfWord(WORDS, word) ?? (isOwnFailure(status, text) ? "broken" : meaningOfStatus(status));
  const details = isJsonObject(json) && isJsonObject(json.error) ? textIn(json.error.details) : undefined;
  const told = faults.slice(0, 3).map(({ node, classType, said }) => `node ${node} (${classType}): ${said}`);
  const message = told.length > 0 ? told.join("; ") : [words.message, details].filter(Boolean).join(" ");
  return refusalOf(upstream, answer, meaning, { word, message: message === "" ? undefined : message });
}

/** The message of its web framework for an error in a handler, before which nothing was queued. */
function isOwnFailure(status: number, text: string | undefined): boolean {
  return status === 500 && text?.includes("Server got itself in trouble") === true;
}

function faultsIn(errors: Json | undefined): InputFault[] {
  if (!isJsonObject(errors)) return [];
  return Object.entries(errors).flatMap(([node, entry]) => {
    const { errors: list, class_type } = isJsonObject(entry) ? entry : ({} as JsonObject);
    const classType = textIn(class_type) ?? "?";
    return (Array.isArray(list) ? list : []).filter(isJsonObject).map((error): InputFault => {
      const extra = isJsonObject(error.extra_info) ? error.extra_info : {};
      const said = [textIn(error.message), textIn(error.details)].filter(Boolean).join(": ");
      return { node, classType, input: textIn(extra.input_name), said };
    });
  });
}

/** The request's fields that cause all faults; undefined if the workflow itself is wrong. */
function fieldsAtFault({ slots }: Workflow, faults: readonly InputFault[]): readonly string[] | undefined {
  const fields = faults.map(({ node, input }) =>
    Object.keys(slots).find(
      (field) =>
        field !== SEED_SLOT &&
        placesOf(slots[field] ?? []).some(({ place }) => place.node === node && place.input === input),
    ),
  );
  const known = fields.flatMap((field) => field ?? []);
  return known.length > 0 && known.length === faults.length ? known : undefined;
}

/** Words of exceptions, of the server's own and of the cloud's. */
const MEMORY = /OutOfMemory|OOMError|Allocation on device|out of memory/i;
const EXCEPTIONS: Readonly<Record<string, Meaning>> = {
  ValidationError: "bad_input",
  ImageDownloadError: "bad_input",
  "PIL.UnidentifiedImageError": "bad_input",
  ModelDownloadError: "refused",
  InsufficientFundsError: "spent",
  InactiveSubscriptionError: "spent",
};

/** Why a prompt failed while it ran: `{node_id, node_type, exception_type, exception_message}`. */
export function readFailure(
  { name, scrub }: Pick<Upstream, "name" | "scrub">,
  error: JsonObject,
  status = 200,
): Refusal {
  const type = textIn(error.exception_type) ?? "an error";
  const message = textIn(error.exception_message) ?? "";
  const node = textIn(error.node_id);
  const where = node === undefined ? "" : ` in node ${node} (${textIn(error.node_type) ?? "?"})`;
  const isMemory = MEMORY.test(`${type} ${message}`);
  return {
    meaning: isMemory ? "busy" : (meaningOfWord(EXCEPTIONS, type) ?? "broken"),
    detail: scrub(plain(`${name}: ${type}${where}${message === "" ? "" : `: "${message.trim()}"`}`)),
    inputProblem: undefined,
    status,
  };
}

/** Nobody here may learn where the server keeps its files. Their names stay. */
function plain(text: string): string {
  return text.replace(
    /(?:\b[A-Za-z]:|(?<![\w.\\/]))(?:[\\/][^\s\\/'":,]+){2,}/g,
    // To look for the name from every place in a long path would take seconds.
    (path) => `…/${path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)}`,
  );
}
