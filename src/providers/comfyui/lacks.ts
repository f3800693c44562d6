import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { placesOf, type Workflow, type WorkflowNode } from "../../domain/model/workflow.ts";
import { suggest } from "../../domain/suggest.ts";
import { type Api, ask } from "./api.ts";
import { createJsonScan } from "./json-scan.ts";

/** With many extensions, what a server says of all its nodes is tens of megabytes. */
const ALL_BYTES = 256 * 1024 * 1024;

/**
 * What a server lacks for a workflow: nodes, and files and other values that a node chooses among. A line each, for the operator.
 *
 * @throws ProviderError without an answer
 */
export async function findLacks(
  api: Api,
  workflow: Workflow,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const known = new Map<string, JsonObject | undefined>();
  for (const { class_type } of Object.values(workflow.nodes))
    if (!known.has(class_type)) known.set(class_type, await describe(api, class_type, signal));
  const isMissing = [...known.values()].includes(undefined);
  const names = isMissing ? await allNames(api, signal) : [];
  const filled = new Set(
    Object.values(workflow.slots).flatMap((slot) =>
      placesOf(slot).map(({ place }) => keyOf(place.node, place.input)),
    ),
  );
  const lines = Object.entries(workflow.nodes).flatMap(([id, node]) => {
    const info = known.get(node.class_type);
    if (info === undefined)
      return [`node ${id}: there is no node ${node.class_type}${near(node.class_type, names)}`];
    return unknownValues(node, info, (input) => filled.has(keyOf(id, input))).map(
      (line) => `node ${id} (${node.class_type}): ${line}`,
    );
  });
  return lines.map(api.upstream.scrub);
}

function keyOf(node: string, input: string): string {
  return JSON.stringify([node, input]);
}

function near(given: string, known: readonly string[]): string {
  const found = suggest(given, known);
  return found === undefined ? "" : `; did you mean ${found}?`;
}

/** What the server says of a kind of node; undefined for one that it does not have. */
async function describe(api: Api, type: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  const { [type]: info } = await ask(api, `/object_info/${encodeURIComponent(type)}`, signal);
  return isJsonObject(info) ? info : undefined;
}

/** The kinds of nodes that the server has. */
async function allNames(api: Api, signal: AbortSignal): Promise<readonly string[]> {
  const { names } = await ask(api, "/object_info", signal, { read: readNames, maxBytes: ALL_BYTES });
  return Array.isArray(names) ? names.map(String) : [];
}

async function readNames(body: AsyncIterable<Uint8Array>): Promise<Json> {
  const names: string[] = [];
  const scan = createJsonScan({
    wants: (depth) => depth === 1,
    text: (_depth, name) => void names.push(name),
    closed: () => {},
  });
  for await (const piece of body) scan(piece);
  return { names };
}

function unknownValues(
  { inputs }: WorkflowNode,
  info: JsonObject,
  isFilled: (input: string) => boolean,
): string[] {
  return Object.entries(inputs).flatMap(([input, value]) => {
    if (typeof value !== "string" || isFilled(input)) return [];
    const choices = choicesOf(info, input);
    if (choices === undefined || choices.includes(value)) return [];
    const of = choices.length === 0 ? ", of which it has none" : "";
    return [`${input} "${value}" is not there${of}${near(value, choices)}`];
  });
}

/** What an input chooses among; undefined for one that takes anything, or a file that is uploaded. */
function choicesOf({ input }: JsonObject, name: string): readonly string[] | undefined {
  const groups = isJsonObject(input) ? [input.required, input.optional] : [];
  const spec = groups.flatMap((group) =>
    isJsonObject(group) && Object.hasOwn(group, name) ? [group[name]] : [],
  )[0];
  const [type, options] = Array.isArray(spec) ? spec : [];
  const how = isJsonObject(options) ? options : {};
  if (Object.keys(how).some((each) => each.endsWith("upload"))) return undefined;
  const choices = Array.isArray(type) ? type : type === "COMBO" ? how.options : undefined;
  return Array.isArray(choices) ? choices.map(String) : undefined;
}
