import { type Demand, demandWords } from "./demand.ts";
import { cut, either, type Field, type Given, type NameOf, sentence, show, type WordTable } from "./say.ts";

/** Without a field, the problem is in the whole body, or in no field. */
type AnyField = Partial<{ field: string | undefined }>;

interface UnknownField {
  /** The object that lacks the field; absent for the whole body. */
  readonly within?: string | undefined;
  /** What the fields of the whole body belong to. */
  readonly owner: string;
  /** The path of the field that was probably meant. */
  readonly near?: string | undefined;
  /** The names of the existing fields. */
  readonly known: readonly string[];
}

/** Fields by which a request for the images API is known. */
const IMAGES_API_FIELDS = new Set(["response_format", "stream"]);
const IMAGES_API =
  "The images API has this field: send its requests to /compat/v1/images/generations, and give its clients a base address that ends with /compat/v1.";

/** Problems that any field can have, whatever it means. */
export const FIELD_WORDS = {
  must: ({ field, must, given }: Field & { must: Demand; given: Given | undefined }, name: NameOf) =>
    `${name(field)} must ${demandWords(must)}${given === undefined ? "" : `, got ${show(given)}`}.`,
  /** A JSON Schema found it. Without `field`, it concerns the whole body. */
  violation: ({ field, must, given }: AnyField & { must: Demand; given: Given }, name: NameOf) =>
    `${field === undefined ? "The body" : name(field)} must ${demandWords(must)}; got ${show(given)}.`,
  /** A rule of a schema over several fields, in its own words: `{a}` stands for a field, `{a|b}` for any of them. */
  rule: ({ rule }: AnyField & { rule: string }, name: NameOf) => withNames(rule, name),
  required: ({ field, by }: Field & { by?: string | undefined }, name: NameOf) =>
    `${name(field)} is required${by === undefined ? "" : ` by ${by}`}.`,
  only_with: ({ field, needed }: Field & { needed: string }, name: NameOf) =>
    `${name(field)} is valid only together with ${name(needed)}.`,
  not_with: ({ field, other }: Field & { other: string }, name: NameOf) =>
    `${name(field)} cannot be given together with ${name(other)}.`,
  unknown_field: ({ field, within, owner, near, known }: Field & UnknownField, name: NameOf) => {
    const holder = within === undefined ? owner : name(within);
    const taken = known.length === 0 ? "no fields" : known.join(", ");
    const isOfImagesApi = within === undefined && IMAGES_API_FIELDS.has(name(field));
    const there = isOfImagesApi ? IMAGES_API : `${holder} takes ${taken}.`;
    const hint = near === undefined ? there : `Did you mean "${name(near)}"?`;
    return `Unknown field "${name(field)}". ${hint}`;
  },
  given_twice: ({ field }: Field, name: NameOf) => `${name(field)} is given twice.`,
  member_given_twice: ({ member }: { member?: string | undefined }) =>
    `${member === undefined ? "A field" : `The field "${cut(member)}"`} is given twice.`,
  contains: (
    { field, what }: AnyField & { what: "a NUL character" | "half of a surrogate pair" },
    name: NameOf,
  ) => `${field === undefined ? "A field name" : name(field)} contains ${what}.`,
  not_after: ({ field, other, given }: Field & { other: string; given: Given }, name: NameOf) =>
    `${name(field)} must be after ${name(other)}, got ${show(given)}.`,
  /**
   * The finding of a check of files, addresses or prices: a clause that begins with the field's name and that names no other
   * field.
   */
  finding: ({ field, finding }: Field & { finding: string }, name: NameOf) =>
    sentence(`${name(field)} ${finding}`),
} satisfies WordTable;

/** A schema's sentence with the reader's names. If several of our names become the same name, it appears once. */
function withNames(rule: string, name: NameOf): string {
  return rule.replace(/\{([^{}]+)\}/g, (_, fields: string) => {
    const names = [...new Set(fields.split("|").map(name))];
    return either(names.filter((each) => !names.some((other) => each.startsWith(`${other}[`))));
  });
}
