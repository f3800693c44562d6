import { CURRENCY, ZERO } from "../money/money.ts";
import { ONE } from "../money/multiplier.ts";
import type { KeptKind } from "../ports/retention-store.ts";
import type { GivenTerms, KeptOf, TermChange, TermTable } from "./term.ts";

/** `unlimited` accounts are metered, and refused only beyond `MOST_OWED`; `prepaid` ones spend what was credited. */
export const ACCOUNT_MODES = ["prepaid", "unlimited"] as const;
export type AccountMode = (typeof ACCOUNT_MODES)[number];

/** The longest time is ten years, as for keys and for the server. */
const LONGEST_SEC = 315_360_000;

/**
 * How long one kind of data is kept after a task ends. It replaces the server's setting. For files, a time set for the key
 * comes first.
 */
function kept<What extends KeptKind>(what: What, help: string) {
  return {
    kind: "duration",
    most: LONGEST_SEC,
    wire: `retain_${what}_seconds`,
    description: `How long ${help} after their end`,
    unset: { means: "as the server has it" },
    flag: `--retain-${what} <duration>`,
    help: `how long ${help} after their end, as 3600 (seconds) or 30d; or none: as the server has it`,
    label: `${what} kept`,
  } as const;
}

/** What an operator sets for an account. Listed everywhere in this order. */
export const ACCOUNT_TERMS = {
  mode: {
    kind: "choice",
    among: ACCOUNT_MODES,
    wire: "mode",
    description: "`unlimited` accounts are metered, and refused only beyond 8e9 USD owed",
    flag: "--mode <mode>",
    help: "prepaid: spends its credit; unlimited: is metered, and refused only beyond 8e9 USD owed",
    label: "mode",
  },
  /** How far below zero a prepaid account may go. */
  creditLimit: {
    kind: "amount",
    wire: "credit_limit",
    description: "How far below zero a prepaid account may go",
    unset: { means: "not at all", value: ZERO },
    flag: "--credit-limit <amount>",
    help: `how far below zero it may go, in ${CURRENCY}, such as 10.00; or none`,
    label: "credit limit",
  },
  /** When less than this is available, the operator is warned once. */
  lowBalance: {
    kind: "amount",
    wire: "low_balance",
    description: "With less than this available, a warning is logged, once for each time",
    unset: { means: "never" },
    flag: "--low-balance <amount>",
    help: "warn in the log when less than this is available; or none",
    label: "low balance",
  },
  /** A factor for the account's prices, in millionths. */
  priceMultiplier: {
    kind: "multiplier",
    wire: "price_multiplier",
    description: "Prices are charged times this",
    unset: { means: "as they are", value: ONE },
    flag: "--price-multiplier <factor>",
    help: "factor on its prices, such as 1.25; or none",
    label: "prices",
  },
  ...{
    retainOutputsSec: kept("outputs", "the files of its tasks' results are kept"),
    retainInputsSec: kept("inputs", "the files of its tasks' inputs are kept"),
    retainCallbacksSec: kept("callbacks", "its tasks' callbacks and their sends are kept"),
    retainTasksSec: kept("tasks", "its tasks are kept, with everything but their money"),
  },
} as const satisfies TermTable;
type Terms = typeof ACCOUNT_TERMS;

/** Terms that have a value whether or not one was set. */
type Lasting = { [Name in keyof Terms]: undefined extends UnsetTo<Terms[Name]> ? never : Name }[keyof Terms];
type UnsetTo<T> = T extends { unset: infer Unset } ? (Unset extends { value: infer V } ? V : undefined) : "";

/** The terms an account has. */
export type AccountTerms = { readonly [Name in Lasting]: KeptOf<Terms[Name]> } & {
  readonly [Name in Exclude<keyof Terms, Lasting>]?: KeptOf<Terms[Name]> | undefined;
};
export type GivenAccountTerms = GivenTerms<Terms>;
export type AccountTermsChange = TermChange<Terms>;
