import { propertyOf } from "../json.ts";
import type { TaskKind } from "../task/request.ts";
import type { FollowUp } from "./follow-up.ts";
import type { MediaField, Model } from "./model.ts";

/**
 * The field that takes the earlier result. An extension and the enlargement of a video use the field for a video. The
 * enlargement of an image uses the field for an image.
 * @returns undefined if the model has no such field and so cannot do the follow-up
 */
export function sourceField(
  fields: readonly MediaField[],
  followUp: FollowUp,
  kind: TaskKind,
): MediaField | undefined {
  const role = followUp === "extend" || kind === "video" ? "video" : "image";
  return fields.find((field) => field.role === role);
}

/**
 * Whether requests can rehearse how a model's tasks go. Its results are for trying out and do not replace those of other
 * models.
 */
export function isRehearsal({ schema }: Pick<Model, "schema">): boolean {
  return propertyOf(schema, "sandbox") !== undefined;
}
