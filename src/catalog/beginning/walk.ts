import type { Json } from "../../domain/json.ts";
import { linkedNode, type Place } from "../../domain/model/workflow.ts";
import type { Nodes } from "./graph.ts";

/** An input and the value that the graph has there. */
export interface Literal {
  readonly place: Place;
  readonly value: Json;
}

/** Inputs by which nodes pass a single value on. */
const PASSED_ON = ["value", "text", "string", "int", "number", "seed", "noise_seed", "a"];
/** As far as values are passed on. */
const MOST_STEPS = 8;

/** The input that a value comes from: the one given, or where its link leads. Undefined where it is worked out. */
export function literalAt(nodes: Nodes, node: string, input: string, steps = 0): Literal | undefined {
  const { inputs = {} } = nodes[node] ?? {};
  if (!Object.hasOwn(inputs, input) || steps > MOST_STEPS) return undefined;
  const { [input]: value } = inputs;
  const linked = linkedNode(value);
  if (linked === undefined) return value === undefined ? undefined : { place: { node, input }, value };
  const passed = PASSED_ON.filter((name) => Object.hasOwn(nodes[linked]?.inputs ?? {}, name));
  // With two of them the value is made of both.
  return passed.length === 1 ? literalAt(nodes, linked, passed[0] ?? "", steps + 1) : undefined;
}

/** Inputs whose links say nothing of what is drawn. */
const ASIDE =
  /^(?:model|vae|clip|clip_vision|control_net|samples|latent|latent_image|pixels|image|mask|sigmas|sampler|noise)$/;
const SIDES = ["positive", "negative"] as const;
export type Side = (typeof SIDES)[number];

/**
 * Goes back from an input along what conditions a picture.
 *
 * @param take what is looked for in a node; where it finds something, the way ends
 */
export function walkBack<Found>(
  nodes: Nodes,
  from: { readonly node: string; readonly input: string },
  side: Side | undefined,
  take: (id: string) => readonly Found[],
): Found[] {
  const seen = new Set<string>();
  const found: Found[] = [];
  const next = [linkedNode(nodes[from.node]?.inputs[from.input])];
  for (let id = next.shift(); id !== undefined || next.length > 0; id = next.shift()) {
    if (id === undefined || seen.has(id)) continue;
    seen.add(id);
    const here = take(id);
    found.push(...here);
    if (here.length === 0) next.push(...linksBack(nodes, id, side));
  }
  return found;
}

function linksBack(nodes: Nodes, id: string, side: Side | undefined): (string | undefined)[] {
  const { inputs = {} } = nodes[id] ?? {};
  const hasSides = SIDES.every((each) => linkedNode(inputs[each]) !== undefined);
  const names = Object.keys(inputs).filter((name) => {
    if (hasSides && side !== undefined) return name === side;
    return side === undefined || !ASIDE.test(name);
  });
  return names.map((name) => linkedNode(inputs[name]));
}

/** All nodes that a node depends on, itself included. */
export function ancestors(nodes: Nodes, id: string, seen = new Set<string>()): ReadonlySet<string> {
  const next = [id];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    for (const value of Object.values(nodes[at]?.inputs ?? {})) {
      const linked = linkedNode(value);
      if (linked !== undefined) next.push(linked);
    }
  }
  return seen;
}
