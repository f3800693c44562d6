import type { Mode } from "../model/model.ts";

/** `text-to-video (no input) or image-to-video (first_frame)`. */
export function modeNames(modes: readonly Mode[]): string {
  return modes.map(({ id, requires }) => `${id} (${requires.join(", ") || "no input"})`).join(" or ");
}
