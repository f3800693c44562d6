import { invalid } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { MAX_GROUP_TASKS } from "../domain/task/group-terms.ts";
import { type NameOf, namesFrom } from "../domain/words/say.ts";

/** A create body. */
type Create = JsonObject & { readonly model: string };

/** A group as requested; its schema is checked. */
export interface GroupBody {
  readonly prompt?: string;
  readonly models?: readonly string[];
  readonly parameters?: JsonObject;
  readonly grid?: Readonly<Record<string, readonly Json[]>>;
  readonly requests?: readonly Create[];
}

/** One task of a requested group. */
export interface ExpandedTask {
  readonly body: Create;
  /** Where the caller gave a field of this task. */
  readonly nameOf: NameOf;
}

/**
 * The creates of a group: each model with each combination of the grid's values, where the last field changes fastest; then
 * each request as it is.
 * @throws AppError `invalid_request` for no task or more than MAX_GROUP_TASKS, for a field that is given twice, or for a field
 * that needs models without any model
 */
export function expandGroup({ requests = [], ...asked }: GroupBody): ExpandedTask[] {
  const { models = [], grid = {} } = asked;
  refuseIdle(asked, requests);
  const members = Object.values(grid).reduce((product, values) => product * values.length, models.length);
  if (members + requests.length > MAX_GROUP_TASKS) {
    const field = requests.length > 0 ? "requests" : asked.grid === undefined ? "models" : "grid";
    throw invalid({ kind: "group_too_large", field, members: members + requests.length });
  }
  const explicit = requests.map((body, i) => ({ body, nameOf: nameIn(`requests[${i}]`) }));
  return [...expandGrid({ ...asked, models }), ...explicit];
}

/** Names of headers stay, because headers belong to the whole request. */
const nameIn =
  (request: string): NameOf =>
  (field) =>
    /^x-/i.test(field) ? field : `${request}.${field}`;

function expandGrid({
  prompt,
  models,
  parameters = {},
  grid = {},
}: Omit<GroupBody, "requests"> & { readonly models: readonly string[] }): ExpandedTask[] {
  const axes = Object.entries(grid);
  refuseClashes({ prompt, parameters, axes: axes.map(([field]) => field) });
  const shared = Object.keys(parameters).map((field) => [field, `parameters.${field}`]);
  const start = { ...(prompt !== undefined && { prompt }), ...parameters };
  let all = models.map((model, i) => ({
    body: { ...start, model } as Create,
    names: { ...Object.fromEntries(shared), model: `models[${i}]` } as Record<string, string>,
  }));
  for (const [field, values] of axes) {
    all = all.flatMap(({ body, names }) =>
      values.map((value, i) => ({
        body: { ...body, [field]: value },
        names: { ...names, [field]: `grid.${field}[${i}]` },
      })),
    );
  }
  return all.map(({ body, names }) => ({ body, nameOf: namesFrom(names) }));
}

/** A group must contain something, and fields for all models have no meaning without models. */
function refuseIdle(asked: Omit<GroupBody, "requests">, requests: readonly Create[]): void {
  if (asked.models !== undefined) return;
  if (requests.length === 0) throw invalid({ kind: "group_empty", field: "models" });
  for (const field of ["prompt", "parameters", "grid"] as const)
    if (asked[field] !== undefined) throw invalid({ kind: "only_with", field, needed: "models" });
}

function refuseClashes({
  prompt,
  parameters,
  axes,
}: {
  prompt: string | undefined;
  parameters: JsonObject;
  axes: readonly string[];
}): void {
  const taken = new Set(["model", ...(prompt === undefined ? [] : ["prompt"])]);
  for (const field of Object.keys(parameters)) {
    if (taken.has(field)) throw invalid({ kind: "group_field_twice", field: `parameters.${field}` });
    taken.add(field);
  }
  for (const field of axes)
    if (taken.has(field)) throw invalid({ kind: "group_field_twice", field: `grid.${field}` });
}
