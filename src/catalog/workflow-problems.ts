import { type Json, type JsonObject, propertyOf } from "../domain/json.ts";
import {
  COUNT_SLOT,
  findCycle,
  linkedNode,
  linksOf,
  partsOfValue,
  placesOf,
  SEED_SLOT,
  type Slot,
  type SlotPlace,
  type Workflow,
} from "../domain/model/workflow.ts";
import { INPUT_ROLES } from "../domain/task/request.ts";
import type { Path, Problem } from "../toolkit/schema-problems.ts";
import { type Manifest, mediaFieldsOf, type RouteForm } from "./manifest.ts";
import { didYouMean, unless } from "./problem.ts";
import { toWorkflow } from "./workflow.ts";

/** Fields of create bodies that no engine is told of. */
const NOT_FOR_ENGINES = ["model", "callback_url", "retain_seconds", "partial_images", "task_id", "index"];

interface Looking {
  readonly manifest: Manifest;
  /** Of the create body. */
  readonly schema: JsonObject;
  readonly route: RouteForm;
  readonly workflow: Workflow;
  /** Of the workflow. */
  readonly at: Path;
}

/** Problems within a route's workflow, and parts of a request that have no place in it. */
export function workflowProblems(
  manifest: Manifest,
  schema: JsonObject,
  route: RouteForm,
  at: Path,
): Problem[] {
  if (route.workflow === undefined) return [];
  const looking = { manifest, schema, route, workflow: toWorkflow(route.workflow), at };
  const own = [...graphProblems(looking), ...placeProblems(looking), ...wordingProblems(looking)];
  // What has no slot follows from a slot with a wrong name.
  const named = unknownSlots(looking);
  return [...own, ...(named.length > 0 ? named : [...missingSlots(looking), ...roleProblems(looking)])];
}

function graphProblems({ workflow: { nodes, outputs = [] }, at }: Looking): Problem[] {
  const ids = Object.keys(nodes);
  const lost = Object.entries(nodes).flatMap(([id, node]) =>
    linksOf(node)
      .filter((linked) => !ids.includes(linked))
      .map((linked) => ({
        path: [...at, "nodes", id],
        problem: `takes a value from ${missing(linked, ids)}`,
      })),
  );
  const cycle = findCycle(nodes);
  return [
    ...lost,
    ...unless(
      cycle === undefined,
      [...at, "nodes", ...(cycle?.slice(0, 1) ?? [])],
      `needs itself: ${cycle?.join(" → ")}`,
    ),
    ...outputs.flatMap((id, i) =>
      unless(ids.includes(id), [...at, "outputs", i], `names ${missing(id, ids)}`),
    ),
  ];
}

function missing(id: string, ids: readonly string[]): string {
  return `the node "${id}", which there is not${didYouMean(id, ids)}`;
}

function placeProblems({ workflow: { nodes, slots }, at }: Looking): Problem[] {
  const taken = new Map<string, string>();
  return Object.entries(slots).flatMap(([field, slot]) =>
    placesOf(slot).flatMap(({ place: { node, input } }): Problem[] => {
      const path = [...at, "slots", field];
      if (!Object.hasOwn(nodes, node))
        return [{ path, problem: `names ${missing(node, Object.keys(nodes))}` }];
      const { inputs = {}, class_type } = nodes[node] ?? {};
      const named = `the input "${input}" of the node "${node}"`;
      if (!Object.hasOwn(inputs, input)) {
        const hint = didYouMean(input, Object.keys(inputs));
        return [{ path, problem: `names ${named}, which its ${class_type} does not have${hint}` }];
      }
      const from = linkedNode(inputs[input]);
      if (from !== undefined) {
        const problem = `names ${named}, which takes its value from the node "${from}"; name an input of that node`;
        return [{ path, problem }];
      }
      const place = JSON.stringify([node, input]);
      const other = taken.get(place);
      taken.set(place, field);
      const isMasked = other !== undefined && isMaskedImage(other, field);
      return unless(other === undefined || isMasked, path, `names ${named}, as slots.${other} does`);
    }),
  );
}

/** An image and its mask may go to one node, which reads the mask from the image's transparency. */
function isMaskedImage(one: string, other: string): boolean {
  return (one === "image" && other === "mask") || (one === "mask" && other === "image");
}

function wordingProblems({ route: { wording = {} }, at }: Looking): Problem[] {
  const path = [...at.slice(0, -1), "wording"];
  return Object.keys(wording)
    .filter((name) => name !== "parameters")
    .map((name) => ({ path, member: name, problem: `has "${name}", which a workflow says by its slots` }))
    .concat(
      Object.entries(wording.parameters ?? {}).flatMap(([name, { field }]) =>
        field === undefined
          ? []
          : [{ path, member: "parameters", problem: `gives ${name} another name; name the slot ${name}` }],
      ),
    );
}

/** The names that slots may have: fields without media, roles of media, and the seed. */
function slotNames({ manifest, schema }: Looking): { fields: string[]; roles: string[] } {
  const media = mediaFieldsOf(manifest);
  const { properties } = schema;
  const names = Object.keys(typeof properties === "object" && properties !== null ? properties : {});
  const isMedia = (name: string) => media.some((field) => field.name === name);
  const fields = names.filter((name) => !isMedia(name) && !NOT_FOR_ENGINES.includes(name));
  const { result_input: result } = manifest;
  const roles = new Set([...media.map(({ role }) => role), ...(result === undefined ? [] : [result.role])]);
  return { fields, roles: [...roles] };
}

function unknownSlots(looking: Looking): Problem[] {
  const { fields, roles } = slotNames(looking);
  const known = [...fields, ...roles];
  return Object.keys(looking.workflow.slots)
    .filter((name) => name !== SEED_SLOT && !known.includes(name))
    .map((member) => ({
      path: [...looking.at, "slots"],
      member,
      problem: `names "${member}", which is no field of the schema and no role under media${didYouMean(member, known)}`,
    }));
}

/** Fields that the route takes and its workflow would drop, or cannot take apart. */
function missingSlots(looking: Looking): Problem[] {
  const { workflow, route, at } = looking;
  const { fields } = slotNames(looking);
  return fields.flatMap((field): Problem[] => {
    if (route.only?.[field] === false) return [];
    const slot = Object.hasOwn(workflow.slots, field) ? workflow.slots[field] : undefined;
    const problem = `has none for "${field}", which would be dropped; add one, or only: { ${field}: false } to the route`;
    if (slot !== undefined) return partProblems(looking, field, slot);
    // Without a slot it makes one, and what the schema has beyond that is told of the schema.
    return unless(field === COUNT_SLOT, [...at, "slots"], problem);
  });
}

/** Values of a list that a slot with parts has no parts of. */
function partProblems({ schema, route, at }: Looking, field: string, slot: Slot): Problem[] {
  const parts = partsOf(placesOf(slot));
  const property = propertyOf(schema, field);
  if (parts.length === 0 || !Array.isArray(property?.enum)) return [];
  const { values = {} } = route.wording?.parameters?.[field] ?? {};
  return property.enum.flatMap((value: Json) => {
    const worded = Object.hasOwn(values, String(value)) ? values[String(value)] : value;
    const problem = `takes ${parts.join(" and ")}, which ${JSON.stringify(worded)} does not have; give them under wording.parameters.${field}.values`;
    return unless(partsOfValue(worded, parts) !== undefined, [...at, "slots", field], problem);
  });
}

function partsOf(places: readonly SlotPlace[]): string[] {
  return [...new Set(places.flatMap(({ part }) => part ?? []))];
}

/** A graph has its files in every request: what a request does not bring would be an old one. */
function roleProblems(looking: Looking): Problem[] {
  const { manifest, workflow, route, at } = looking;
  const { roles } = slotNames(looking);
  const modes = manifest.modes.filter(({ id }) => route.modes?.includes(id) ?? true);
  return INPUT_ROLES.filter((role) => roles.includes(role)).flatMap((role) => {
    const slot = Object.hasOwn(workflow.slots, role) ? workflow.slots[role] : undefined;
    const path = [...at, "slots", role];
    if (slot === undefined) return [];
    const without = modes.find(({ requires }) => !requires.includes(role));
    const problem = `takes a file in every request, and the mode "${without?.id}" has none; give the route modes that require it`;
    return [...unless(without === undefined, path, problem), ...listProblems(looking, role, slot)];
  });
}

/** Several places take as many files, no fewer. */
function listProblems({ manifest, schema, route, at }: Looking, role: string, slot: Slot): Problem[] {
  const count = placesOf(slot).length;
  return mediaFieldsOf(manifest)
    .filter((field) => field.role === role)
    .flatMap(({ name }) => {
      const property = propertyOf(schema, name);
      const limit = route.only?.[name];
      const bounds = typeof limit === "object" && !("enum" in limit) ? limit : {};
      const least = bounds.minimum ?? (property?.type === "array" ? (property.minItems ?? 0) : 1);
      const most = bounds.maximum ?? (property?.type === "array" ? property.maxItems : 1);
      const problem = `has ${count} places, so ${name} must have exactly so many files; say it with minItems and maxItems, or under only`;
      return unless(least === count && most === count, [...at, "slots", role], problem);
    });
}
