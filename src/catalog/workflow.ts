import type { InputWording, Wording } from "../domain/model/wording.ts";
import { COUNT_SLOT, type Place, type Slot, type Workflow } from "../domain/model/workflow.ts";
import { INPUT_ROLES } from "../domain/task/request.ts";

/** A workflow as a manifest has it. Ids may be written as numbers. */
export interface WorkflowForm extends Omit<Workflow, "slots" | "outputs"> {
  readonly slots: { readonly [field: string]: SlotForm };
  readonly outputs?: readonly (string | number)[];
}

type PlaceForm = Omit<Place, "node"> & { readonly node: string | number };
type SlotForm =
  | PlaceForm
  | readonly PlaceForm[]
  | { readonly [part: string]: PlaceForm | readonly PlaceForm[] };

/** The workflow of a route. Of a node there stays what its engine runs. */
export function toWorkflow({ nodes, slots, outputs }: WorkflowForm): Workflow {
  const run = Object.entries(nodes).map(([id, { class_type, inputs }]) => [id, { class_type, inputs }]);
  const placed = Object.entries(slots).map(([field, slot]): [string, Slot] => [field, toSlot(slot)]);
  return { nodes: Object.fromEntries(run), slots: Object.fromEntries(placed), outputs: outputs?.map(String) };
}

/** How a route with a workflow words requests: it takes several outputs, and inputs of a role, where there are slots for them. */
export function workflowWording(form: WorkflowForm, wording: Pick<Wording, "parameters"> = {}): Wording {
  const workflow = toWorkflow(form);
  const roles = INPUT_ROLES.filter((role) => Object.hasOwn(workflow.slots, role));
  const inputs = roles.map((role): [string, InputWording] => {
    const { [role]: slot } = workflow.slots;
    return [role, { field: role, isList: Array.isArray(slot) && slot.length > 1 }];
  });
  return {
    parameters: wording.parameters,
    ...(Object.hasOwn(workflow.slots, COUNT_SLOT) && { count: COUNT_SLOT }),
    inputs: Object.fromEntries(inputs),
    workflow,
  };
}

function toSlot(slot: SlotForm): Slot {
  if (isList(slot)) return slot.map(toPlace);
  if (isPlaceForm(slot)) return toPlace(slot);
  const parts = Object.entries(slot).map(([part, places]): [string, Place | readonly Place[]] => [
    part,
    isList(places) ? places.map(toPlace) : toPlace(places),
  ]);
  return Object.fromEntries(parts);
}

function toPlace(form: PlaceForm): Place {
  return { ...form, node: String(form.node) };
}

function isList(slot: SlotForm | PlaceForm | readonly PlaceForm[]): slot is readonly PlaceForm[] {
  return Array.isArray(slot);
}

/** What the schema of manifests let through is a place if it names a node. */
function isPlaceForm(slot: Exclude<SlotForm, readonly PlaceForm[]>): slot is PlaceForm {
  return typeof slot.node === "string" || typeof slot.node === "number";
}
