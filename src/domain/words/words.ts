import { ACCESS_WORDS } from "./access-words.ts";
import { BODY_WORDS } from "./body-words.ts";
import { FIELD_WORDS } from "./field-words.ts";
import { INPUT_WORDS } from "./input-words.ts";
import { MANAGEMENT_WORDS } from "./management-words.ts";
import { cut, type FactsOf, type NameOf } from "./say.ts";
import { TASK_WORDS } from "./task-words.ts";

/** The words for everything that ends a request, by kind. Each function takes the facts that it needs. */
const WORDS = {
  ...FIELD_WORDS,
  ...INPUT_WORDS,
  ...BODY_WORDS,
  ...ACCESS_WORDS,
  ...TASK_WORDS,
  ...MANAGEMENT_WORDS,
};

/** Why a request ended, as plain data. Fields are named as /v1 names them; `field` is the one at fault. */
export type Facts = FactsOf<typeof WORDS>;

/** The message for a reader who has other names for our fields. */
export function describe(facts: Facts, nameOf: NameOf): string {
  // The kind selects the function that takes exactly these facts. The compiler cannot follow that.
  const words = WORDS[facts.kind] as (facts: Facts, name: NameOf) => string;
  return words(facts, (field) => nameOf(cut(field)));
}

/** The field at fault, in the reader's name for it. */
export function fieldOf(facts: Facts, nameOf: NameOf): string | undefined {
  return "field" in facts && facts.field !== undefined ? nameOf(cut(facts.field)) : undefined;
}
