import { invalid } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { MAX_GROUP_TASKS } from "../domain/task/group-terms.ts";

/** A group as it is asked for; its schema is checked. */
export interface GroupBody {
  readonly prompt?: string;
  readonly models: readonly string[];
  readonly parameters?: JsonObject;
  readonly grid?: Readonly<Record<string, readonly Json[]>>;
}

/** One task of a group that is asked for. */
export interface ExpandedTask {
  /** A create body. */
  readonly body: JsonObject & { readonly model: string };
  /** Where the caller gave each of its fields. */
  readonly names: Readonly<Record<string, string>>;
}

/**
 * The creates that a group is made of: each model with each combination of the grid's values, the last field changing fastest.
 * @throws AppError `invalid_request` for more than MAX_GROUP_TASKS, or a field that is given twice
 */
export function expandGroup({ prompt, models, parameters = {}, grid = {} }: GroupBody): ExpandedTask[] {
  const axes = Object.entries(grid);
  refuseClashes({ prompt, parameters, axes: axes.map(([field]) => field) });
  const members = axes.reduce((product, [, values]) => product * values.length, models.length);
  if (members > MAX_GROUP_TASKS)
    throw invalid({ kind: "group_too_large", field: axes.length === 0 ? "models" : "grid", members });
  const shared = Object.keys(parameters).map((field) => [field, `parameters.${field}`]);
  const start = { ...(prompt !== undefined && { prompt }), ...parameters };
  let all = models.map(
    (model, i): ExpandedTask => ({
      body: { ...start, model },
      names: { ...Object.fromEntries(shared), model: `models[${i}]` },
    }),
  );
  for (const [field, values] of axes) {
    all = all.flatMap(({ body, names }) =>
      values.map((value, i) => ({
        body: { ...body, [field]: value },
        names: { ...names, [field]: `grid.${field}[${i}]` },
      })),
    );
  }
  return all;
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
