import type { ModelId } from "../ids.ts";
import type { Micros } from "../money/money.ts";
import type { Quota } from "../money/quota.ts";

/*
 * A term is one setting of a key or an account. A table of terms states each fact once. The types, the API's fields, the checks,
 * the command line's flags and what people read follow from the kind of each term, so a new term is one new entry.
 */

/** A flag of the command line. */
export interface Flag {
  /** As help lists it: `--rpm <count>`. */
  readonly flag: string;
  readonly help: string;
}

interface Described extends Flag {
  /** Its field in the management API. */
  readonly wire: string;
  /** What the published document says about the field, without the full stop. */
  readonly description: string;
  /** What people read before its value. */
  readonly label: string;
  /** What null means in words, and the value that null sets, if any. Absent: the term always has a value, and null is refused. */
  readonly unset?: { readonly means: string; readonly value?: number };
}

export type Term = Described &
  (
    | { readonly kind: "count"; readonly most: number }
    /** Whole seconds. */
    | { readonly kind: "duration"; readonly most: number }
    /** Epoch milliseconds; Unix seconds in the management API. */
    | { readonly kind: "time" }
    | { readonly kind: "amount" }
    /** Millionths. */
    | { readonly kind: "multiplier" }
    | { readonly kind: "choice"; readonly among: readonly string[] }
    | { readonly kind: "choices"; readonly among: readonly string[] }
    /** Ids of models, `*` standing for any characters. */
    | { readonly kind: "patterns" }
    /** Addresses, and ranges of them as CIDR. */
    | { readonly kind: "ranges" }
    | { readonly kind: "aliases" }
    /** Names of the operator's checks of content; an empty list is one. */
    | { readonly kind: "checks" }
    /** An amount, and how often the spending counter restarts. */
    | { readonly kind: "quota"; readonly reset: Flag }
  );
export type Kind = Term["kind"];
export type TermOf<K extends Kind> = Extract<Term, { readonly kind: K }>;
export type TermTable = { readonly [name: string]: Term };

/** The type in which a term of each kind is stored. */
export interface Kept {
  readonly count: number;
  readonly duration: number;
  readonly time: number;
  readonly amount: Micros;
  readonly multiplier: number;
  readonly choice: string;
  readonly choices: readonly string[];
  readonly patterns: readonly string[];
  readonly ranges: readonly string[];
  readonly aliases: { readonly [alias: string]: ModelId };
  readonly checks: readonly string[];
  readonly quota: Quota;
}

/** The type that an operator may give for a term of each kind, before it is checked. */
export interface Given extends Omit<Kept, "aliases" | "quota"> {
  readonly aliases: { readonly [alias: string]: string };
  readonly quota: QuotaTerms;
}

/** What a key may spend. Absent members keep the key's value, or `total` if the key had no quota. */
export interface QuotaTerms {
  readonly limit?: Micros | undefined;
  readonly reset?: string | undefined;
}

/** The type in which one entry of a table is stored. */
export type KeptOf<T extends Term> = T extends { kind: "choice"; among: readonly (infer Choice)[] }
  ? Choice
  : T extends { kind: "choices"; among: readonly (infer Choice)[] }
    ? readonly Choice[]
    : Kept[T["kind"]];

/** Null only for terms that can be unset. */
type Unset<T extends Term> = T extends { unset: object } ? null : never;

/** The terms that an operator gives. Absent terms are not mentioned; null unsets a term. */
export type GivenTerms<Table extends TermTable> = {
  readonly [Name in keyof Table]?: Given[Table[Name]["kind"]] | Unset<Table[Name]> | undefined;
};

/** A change of a table's terms. Absent terms stay as they are; null removes the value. */
export type TermChange<Table extends TermTable> = {
  readonly [Name in keyof Table]?:
    | KeptOf<Table[Name]>
    | (Table[Name] extends { unset: { value: number } } ? never : Unset<Table[Name]>)
    | undefined;
};

/** How many entries a list or a map may have; the fewest is 1. */
export const MOST_ENTRIES = 100;
