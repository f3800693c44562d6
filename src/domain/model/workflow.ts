import type { Json, JsonObject } from "../json.ts";

/** The graph that an engine runs, and where a request's fields go in it. */
export interface Workflow {
  /** By their ids. */
  readonly nodes: { readonly [id: string]: WorkflowNode };
  /** By the fields of the create body, and by the roles of its media. */
  readonly slots: { readonly [field: string]: Slot };
  /** The nodes whose files are the outputs, in their order. Absent: all nodes that save files. */
  readonly outputs?: readonly string[] | undefined;
}

export interface WorkflowNode {
  readonly class_type: string;
  readonly inputs: JsonObject;
}

/** An input of a node. */
export interface Place {
  readonly node: string;
  readonly input: string;
  /** Masks only: the colour that marks what may change. Absent: transparency marks it, unless the node reads a colour. */
  readonly painted?: "white" | "black" | undefined;
}

/**
 * Where a value goes. One place: the value goes there. Several places: each gets the value, or each gets one of several files.
 * Named parts: each part of the value, such as width and height, has a place of its own.
 */
export type Slot = Place | readonly Place[] | { readonly [part: string]: Place | readonly Place[] };

/** A place of a slot, and the part of the value that goes there. */
export interface SlotPlace {
  readonly part?: string | undefined;
  readonly place: Place;
}

/** The field of the seed. A request without a seed gets a random one. */
export const SEED_SLOT = "seed";
/** The field that says how many outputs are made. */
export const COUNT_SLOT = "n";

/** Every place of a slot. */
export function placesOf(slot: Slot): readonly SlotPlace[] {
  if (isPlaces(slot)) return slot.map((place) => ({ place }));
  if (isPlace(slot)) return [{ place: slot }];
  return Object.entries(slot).flatMap(([part, places]) =>
    (isPlaces(places) ? places : [places]).map((place) => ({ part, place })),
  );
}

function isPlaces(slot: Slot): slot is readonly Place[] {
  return Array.isArray(slot);
}

function isPlace(slot: Exclude<Slot, readonly Place[]>): slot is Place {
  return typeof slot.node === "string" && typeof slot.input === "string";
}

/** The parts of a value, which is `1024x768` or an object; undefined if a part is missing. */
export function partsOfValue(
  value: Json | undefined,
  parts: readonly string[],
): Readonly<Record<string, Json>> | undefined {
  if (typeof value === "string") {
    const [, width, height] = /^(\d{1,6})x(\d{1,6})$/.exec(value) ?? [];
    return partsOfValue(width === undefined ? null : { width: Number(width), height: Number(height) }, parts);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const given = new Map(Object.entries(value));
  const found = parts.flatMap((part): [string, Json][] => {
    const own = given.get(part);
    return own === undefined ? [] : [[part, own]];
  });
  return found.length === parts.length ? Object.fromEntries(found) : undefined;
}

/** The node that an input takes its value from; undefined if the graph itself contains the value. */
export function linkedNode(value: Json | undefined): string | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [node, output] = value;
  return typeof node === "string" && typeof output === "number" ? node : undefined;
}

/** Ids of the nodes from which a node's inputs take values. */
export function linksOf({ inputs }: WorkflowNode): string[] {
  return Object.values(inputs).flatMap((value) => linkedNode(value) ?? []);
}

/** A cycle of nodes that need each other: each once, and the first again at the end. Undefined if there is no cycle. */
export function findCycle(nodes: Workflow["nodes"]): readonly string[] | undefined {
  const done = new Set<string>();
  for (const start of Object.keys(nodes)) {
    const trail: { readonly id: string; readonly left: string[] }[] = [];
    const enter = (id: string) => {
      const node = Object.hasOwn(nodes, id) ? nodes[id] : undefined;
      trail.push({ id, left: node === undefined ? [] : linksOf(node) });
    };
    if (!done.has(start)) enter(start);
    // A graph may be deeper than the call stack, so this is no recursion.
    for (let last = trail.at(-1); last !== undefined; last = trail.at(-1)) {
      const next = last.left.pop();
      if (next === undefined) {
        done.add(last.id);
        trail.pop();
        continue;
      }
      const at = trail.findIndex(({ id }) => id === next);
      if (at >= 0) return [...trail.slice(at).map(({ id }) => id), next];
      if (!done.has(next)) enter(next);
    }
  }
  return undefined;
}
