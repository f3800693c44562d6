import { builtInForms } from "./built-in.ts" with { type: "macro" };

/** Every form that comes along, by the id of its provider. Loaded when one of them is used. */
export const BUILT_IN_FORMS = builtInForms();
