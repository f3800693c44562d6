import { type CheckedForm, checkForm } from "../providers/declared/checking/check-form.ts";
import { FORM_BYTES } from "../providers/declared/form.ts";
import { createSystemClock } from "../runtime/clock.ts";

/** Largest size of a form; larger files are no forms. */
export const MOST_FORM_BYTES = FORM_BYTES;

/** Checks a file that is to be a form, for commands that need no server. @param file name for messages */
export function checkFormText(file: string, text: string): Promise<CheckedForm> {
  return checkForm(file, text, createSystemClock());
}
