import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { findCycle, linksOf, type WorkflowNode } from "../../domain/model/workflow.ts";
import { suggest } from "../../domain/suggest.ts";

/** Why no model can be started from a file. The message completes a sentence that begins with the file's name: `is no JSON`. */
export class WorkflowError extends Error {
  override readonly name = "WorkflowError";
}

/** A node as the export has it. */
export interface ExportedNode extends WorkflowNode {
  readonly _meta?: { readonly title?: unknown } | undefined;
}
export type Nodes = Readonly<Record<string, ExportedNode>>;

/** A larger file holds pictures or models, or is no workflow. */
export const MOST_WORKFLOW_BYTES = 1024 * 1024;

const HOW =
  "Export it from the editor by File > Export (API); in older versions, switch on the dev mode options and use Save (API Format).";

/** Reads a workflow in the format of the API: nodes by their ids. @throws WorkflowError */
export function readGraph(text: string): Nodes {
  const content = parse(text);
  if (!isJsonObject(content)) throw new WorkflowError(`is no workflow. ${HOW}`);
  if (Array.isArray(content.nodes)) throw new WorkflowError(`is a workflow as the editor saves it. ${HOW}`);
  // The body of a request to the server has it one level down.
  const graph = isJsonObject(content.prompt) && content.class_type === undefined ? content.prompt : content;
  const entries = Object.entries(graph);
  const nodes = entries.map(([id, node]): [string, ExportedNode] => {
    if (isNode(node)) return [id, node];
    throw new WorkflowError(`has no node at "${id}", which needs class_type and inputs. ${HOW}`);
  });
  if (nodes.length === 0) throw new WorkflowError("has no nodes");
  const read = Object.fromEntries(nodes);
  checkLinks(read);
  return read;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new WorkflowError(`is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isNode(node: JsonObject[string]): node is JsonObject & ExportedNode {
  return (
    isJsonObject(node) &&
    typeof node.class_type === "string" &&
    node.class_type !== "" &&
    isJsonObject(node.inputs)
  );
}

function checkLinks(nodes: Nodes): void {
  const ids = Object.keys(nodes);
  for (const [id, node] of Object.entries(nodes)) {
    const lost = linksOf(node).find((linked) => !Object.hasOwn(nodes, linked));
    if (lost === undefined) continue;
    const near = suggest(lost, ids);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new WorkflowError(
      `has a node ${id} that takes a value from the node "${lost}", which there is not${hint}`,
    );
  }
  const cycle = findCycle(nodes);
  if (cycle !== undefined) throw new WorkflowError(`has nodes that need each other: ${cycle.join(" → ")}`);
}

/** What people call a node: `6 (CLIP Text Encode)`. */
export function nameOf(nodes: Nodes, id: string): string {
  const { class_type = "?", _meta } = nodes[id] ?? {};
  const title = typeof _meta?.title === "string" && _meta.title.trim() !== "" ? _meta.title : class_type;
  return `${shown(id, 40)} (${shown(title, 60)})`;
}

/** A text in one line. */
export function shown(text: string, most: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most).toWellFormed()}…`;
}
