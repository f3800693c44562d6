import { invalid } from "../../domain/errors.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { FormField } from "../staged-form.ts";

/** `a`, `a[]` or `a[b]`. */
const NAME = /^([^[\]]+)(?:\[([^[\]]*)\])?$/;

/**
 * The fields of a form as an object: `a[b]` is a member of an object, `a[]` an entry of a list, as clients write them that turn
 * objects into forms. All values are text. Empty ones are left out, as browsers send them for fields that were not filled in.
 * @throws AppError for a field that is given twice
 */
export function objectOfFields(fields: readonly FormField[]): JsonObject {
  const members = new Map<string, Json | Map<string, Json>>();
  for (const { name, value } of fields) {
    const [, own = name, inner] = NAME.exec(name) ?? [];
    const before = members.get(own);
    if (value === "" && own !== "prompt") continue;
    if (inner === undefined && before === undefined) members.set(own, value);
    else if (inner === "" && (before === undefined || Array.isArray(before)))
      members.set(own, [...(before ?? []), value]);
    else if (inner !== undefined && inner !== "" && (before === undefined || isNew(before, inner)))
      members.set(own, new Map([...(before ?? []), [inner, value]]));
    else throw invalid({ kind: "given_twice", field: name });
  }
  const entries = [...members].map(
    ([name, value]) => [name, value instanceof Map ? Object.fromEntries(value) : value] as const,
  );
  return Object.fromEntries(entries);
}

function isNew(before: unknown, inner: string): before is Map<string, Json> {
  return before instanceof Map && !before.has(inner);
}
