import type { KeyId } from "../ids.ts";
import { CURRENCY, formatAmount, type Micros, toMicros } from "../money/money.ts";
import type { ManifestFinding } from "../ports/manifests.ts";
import { type Field, type NameOf, sentence, show, type WordTable } from "./say.ts";

/** What an operator names: an account, a key and the like. */
interface Thing {
  readonly what: "account" | "key" | "token" | "task" | "model" | "callback" | "provider" | "session";
}

/** Why an operator's request is refused. */
export const MANAGEMENT_WORDS = {
  unknown: ({ what, given, near }: Thing & { given: string; near?: string | undefined }) =>
    `There is no ${what} ${show(given)}.${near === undefined ? "" : ` Did you mean "${near}"?`}`,
  name_length: ({ what, most, length }: Thing & Field & { most: number; length: number }) =>
    `The name of the ${what} must have 1 to ${most} characters, not ${length}.`,
  name_characters: ({ what }: Thing & Field) =>
    `The name of the ${what} must not hold control characters, or begin or end with a space.`,
  name_like_id: ({ what }: Thing & Field) => `The name of the ${what} must not have the form of an id.`,
  account_taken: ({ name }: Field & { name: string }) => `There is an account named ${show(name)} already.`,
  token_taken: ({ name }: Field & { name: string }) =>
    `There is a token named ${show(name)} already; revoke it or choose another name.`,
  import_clash: ({ of, name }: { of: "account" | "key"; name: string }) =>
    `Nothing was brought: ${of} ${name} clashes with one that has come here meanwhile. Look at the plan again.`,
  key_taken: ({ account, name }: Field & { account: string; name: string }) =>
    `The account ${show(account)} has a key named ${show(name)} already; revoke it or choose another name.`,
  key_ambiguous: ({ name, ids, isMore }: Field & { name: string; ids: readonly KeyId[]; isMore: boolean }) =>
    `Several accounts have a key named ${show(name)}; use one of the ids: ${ids.join(", ")}${isMore ? " and more" : ""}.`,
  keys_revoked: ({ name, id }: { name: string; id: KeyId }) =>
    `Every key named ${show(name)} is revoked; to see one, use its id (${id}).`,
  key_revoked: ({ given }: Field & { given: string }) =>
    `The key ${show(given)} is revoked, which is for good; make another one.`,

  settings_fixed: () =>
    "This server answers from recordings, whose settings cannot change; restart it instead.",
  grace: ({ field, most, given }: Field & { most: number; given: number }, name: NameOf) =>
    `${name(field)} must be from 0 to ${most} (30 days), got ${given}.`,
  grace_alone: ({ field }: Field, name: NameOf) =>
    `${name(field)} is only for a callback secret that takes another one's place.`,
  /** The text may be a whole secret without its last character, so it is not repeated. */
  signing_secret: ({ field, anew }: Field & { anew: string }, name: NameOf) =>
    `${name(field)} must be "${anew}", or whsec_ and 24 to 64 bytes in base64; what was given is not shown.`,
  quota_without_limit: ({ field }: Field, name: NameOf) =>
    `${name(field)} must say how much the key may spend: there is no quota yet whose reset could change.`,

  first_credit: ({ given }: Field & { given: Micros }) =>
    `An account starts with nothing or a credit, not with ${formatAmount(given)}.`,
  amount_zero: (_: Field) => "An amount of zero changes nothing.",
  credit_limit_too_low: ({ field, balance, held, creditLimit }: Field & Funds, name: NameOf) => {
    const least = formatAmount(toMicros(held - balance));
    const short = formatAmount(toMicros(held - balance - creditLimit));
    const holdings = `it has ${formatAmount(balance)} ${CURRENCY} with ${formatAmount(held)} held`;
    return `${name(field)} must be at least ${least} for this account to be prepaid, got ${formatAmount(creditLimit)}: ${holdings}. Credit ${short} first, or raise the limit.`;
  },
  balance_too_low: ({ balance, held, creditLimit, amount }: Funds & { amount: Micros }) => {
    const credit = creditLimit === 0 ? "" : ` and a credit limit of ${formatAmount(creditLimit)}`;
    return `The account has ${formatAmount(balance)}, ${formatAmount(held)} of it held${credit}; ${formatAmount(amount)} would leave less than is held.`;
  },
  balance_uncountable: ({ balance, amount }: Field & { balance: Micros; amount: Micros }) =>
    `The account has ${formatAmount(balance)}; with ${formatAmount(amount)} more it would have more than can be counted.`,
  amount_not_positive: ({ field, given }: Field & { given: Micros }, name: NameOf) =>
    `${name(field)} must be above zero, got ${formatAmount(given)}.`,
  refund_too_high: ({ field, charged, given }: Field & { charged: Micros; given: Micros }, name: NameOf) =>
    `${name(field)} must be at most the ${formatAmount(charged)} ${CURRENCY} that the task was charged, got ${formatAmount(given)}.`,
  not_charged: ({ task }: Field & { task: string }) =>
    `The task ${show(task)} was charged nothing that could be given back.`,
  already_refunded: ({ task }: Field & { task: string }) =>
    `The task ${show(task)} was refunded already, which is done once.`,
  reason_controls: ({ field }: Field, name: NameOf) => `${name(field)} must not hold control characters.`,
  price_reason: ({ field, most, length }: Field & { most: number; length: number }, name: NameOf) =>
    `${name(field)} must have at most ${most} characters and no control characters, got ${length}.`,
  /** What is wrong with a part of a price rule; with an empty path, with the whole rule. */
  price_rule: ({ field, finding }: Field & { finding: string }, name: NameOf) =>
    sentence(`${name(field) || "The rule"} ${finding}`),
  manifest_unknown: () => "There is no model of your own with this id.",
  manifest_id: (_: Field) =>
    "The id of a model has up to 100 letters, digits, dots, hyphens and underscores, and begins with a letter or digit.",
  manifest_file_taken: ({ file, model }: { file: string; model: string }) =>
    `The file ${show(file)} is that of the model ${show(model)}. Rename it, or choose another id.`,
  manifest_finding: ({ line, column, message, more }: Field & ManifestFinding & { more: number }) =>
    `Line ${line}, column ${column}: ${message}${more === 0 ? "" : ` (and ${more} more: POST /admin/v1/models/check tells all)`}`,
  manifest_other_id: ({ id, model }: Field & { id: string; model: string }) =>
    `The id in the text is ${show(id)}, and the address names ${show(model)}.`,
  manifests_full: ({ most }: { most: number }) =>
    `There are ${most} files of models, and more are not read. Remove some first.`,
  usage_too_long: ({ most }: { most: number }) =>
    `There are more than ${most} lines. Ask for fewer days, for one account, or for less in each line.`,
  since_after_until: (
    { field, other, given, until }: Field & { other: string; given: string; until: string },
    name: NameOf,
  ) => `${name(field)} must not be after ${name(other)}, which is ${until}, got ${given}.`,
} satisfies WordTable;

interface Funds {
  readonly balance: Micros;
  readonly held: Micros;
  readonly creditLimit: Micros;
}
