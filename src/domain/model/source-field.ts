import { propertyOf } from "../json.ts";
import type { TaskKind } from "../task/request.ts";
import type { FollowUp } from "./follow-up.ts";
import type { MediaField, Model } from "./model.ts";

/**
 * The field that takes the earlier result: of an extension, and of a video to enlarge, the one for a video; of an image to enlarge, the
 * one for an image.
 * @returns undefined where the model has none, which keeps it from being a follow-up
 */
export function sourceField(
  fields: readonly MediaField[],
  followUp: FollowUp,
  kind: TaskKind,
): MediaField | undefined {
  const role = followUp === "extend" || kind === "video" ? "video" : "image";
  return fields.find((field) => field.role === role);
}

/** Whether how a model's tasks go can be rehearsed. What it makes is for trying out, and no substitute for what others make. */
export function isRehearsal({ schema }: Pick<Model, "schema">): boolean {
  return propertyOf(schema, "sandbox") !== undefined;
}
