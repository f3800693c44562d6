import type { Json } from "../../domain/json.ts";
import {
  partsOfValue,
  placesOf,
  SEED_SLOT,
  type Slot,
  type Workflow,
  type WorkflowNode,
} from "../../domain/model/workflow.ts";
import type { Submission } from "../../domain/ports/provider.ts";
import { unsayable, wordValue } from "../kit/wording.ts";
import { seedOf } from "./ids.ts";

/** A workflow as it is sent. */
export type Graph = Readonly<Record<string, WorkflowNode>>;

/** Parameters that say how a task is answered, not what is made. */
const NOT_FOR_GRAPHS: ReadonlySet<string> = new Set(["partial_images"]);

/** The workflow of a route. @throws ProviderError `reroute` for a route without one */
export function workflowOf({
  wording,
  upstreamModel,
}: Pick<Submission, "wording" | "upstreamModel">): Workflow {
  if (wording?.workflow === undefined) throw unsayable(`the route to ${upstreamModel} has no workflow`);
  return wording.workflow;
}

/**
 * A route's workflow with a request's values in its slots. Values that the request does not give stay as in the workflow, except the
 * seed.
 *
 * @param files the server's names of the inputs, by role
 * @throws ProviderError `reroute` for a value without a slot
 */
export function fillWorkflow(submission: Submission, files: ReadonlyMap<string, readonly string[]>): Graph {
  const { attempt, request, wording = {} } = submission;
  const { nodes, slots } = workflowOf(submission);
  const filled = new Map(
    Object.entries(nodes).map(([id, node]) => [id, { ...node, inputs: { ...node.inputs } }]),
  );
  const slotOf = (name: string): Slot => {
    const slot = Object.hasOwn(slots, name) ? slots[name] : undefined;
    if (slot === undefined) throw unsayable(`the workflow has no slot for ${name}`);
    return slot;
  };
  const put = (node: string, input: string, value: Json) => {
    const target = filled.get(node);
    if (target === undefined) throw unsayable(`the workflow has no node ${node}`);
    Object.assign(target.inputs, { [input]: value });
  };
  for (const [name, value] of valuesOf(submission)) {
    const parameters = wording.parameters ?? {};
    const worded = wordValue(name, value, (Object.hasOwn(parameters, name) && parameters[name]) || {});
    for (const { node, input, value: part } of placed(slotOf(name), name, worded)) put(node, input, part);
  }
  if (Object.hasOwn(slots, SEED_SLOT) && request.parameters[SEED_SLOT] === undefined)
    for (const { place } of placesOf(slotOf(SEED_SLOT))) put(place.node, place.input, seedOf(attempt));
  for (const [role, names] of files) {
    const places = placesOf(slotOf(role));
    if (names.length !== places.length)
      throw unsayable(`the workflow takes ${places.length} files as ${role}, not ${names.length}`);
    for (const [i, { place }] of places.entries()) put(place.node, place.input, names[i] ?? null);
  }
  return Object.fromEntries(filled);
}

function* valuesOf({ request, wording }: Submission): Generator<[name: string, value: Json]> {
  if (request.prompt !== undefined) yield ["prompt", request.prompt];
  if (wording?.count !== undefined) yield [wording.count, request.n];
  else if (request.n !== 1) throw unsayable("the workflow makes one output at a time");
  for (const [name, value] of Object.entries(request.parameters))
    if (!NOT_FOR_GRAPHS.has(name)) yield [name, value];
}

function placed(slot: Slot, name: string, value: Json) {
  const places = placesOf(slot);
  const parts = places.flatMap(({ part }) => part ?? []);
  const found = parts.length === 0 ? {} : partsOfValue(value, parts);
  if (found === undefined) throw unsayable(`${name} ${JSON.stringify(value)} has no ${parts.join(" and ")}`);
  return places.map(({ part, place }) => ({
    ...place,
    value: part === undefined ? value : (found[part] ?? null),
  }));
}
