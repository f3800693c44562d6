/** Identifiers are TypeIDs: a prefix, `_`, and 26 base32 characters of a UUIDv7, so that they sort by time. */
declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

export type TaskId = Id<"task">;
/** A group of tasks; see domain/task/group.ts. */
export type GroupId = Id<"grp">;
export type AttemptId = Id<"att">;
export type AccountId = Id<"acc">;
export type KeyId = Id<"key">;
export type TokenId = Id<"tok">;
export type SessionId = Id<"ses">;
export type CallbackId = Id<"cb">;
export type RequestId = Id<"req">;
/** The id of a stored file is a capability: 128 random bits, not a UUIDv7. */
export type AssetId = Id<"asset">;
/** The id of a file that was uploaded before any task; a capability like an asset's. */
export type FileId = Id<"file">;
export type ModelId = Id<"model">;
export type ProviderId = Id<"provider">;
/** An account at a provider: the provider's id for the account `default`, `provider/account` for the others. */
export type LaneId = ProviderId | Id<"lane">;
/** New at every claim. It distinguishes the worker that holds a task from one that lost it. */
export type LeaseToken = Id<"lease">;

/** Each prefix and the type of identifier it marks. */
export interface IdByPrefix {
  task: TaskId;
  grp: GroupId;
  att: AttemptId;
  acc: AccountId;
  key: KeyId;
  tok: TokenId;
  ses: SessionId;
  cb: CallbackId;
  req: RequestId;
  asset: AssetId;
  file: FileId;
}
export type IdPrefix = keyof IdByPrefix;

/**
 * The id of the one callback that reports a task's cancellation, the beginning of its first attempt, or the end of a group.
 * Code that writes these callbacks has no source of ids. The id is unique, because the id that it is made from is. A group
 * shares its id's digits with a task of the default form, and that task never reports its cancellation.
 */
export function callbackIdOf(id: TaskId | AttemptId | GroupId): CallbackId {
  return id.replace(/^[a-z]+/, "cb") as CallbackId;
}

/** Digits of a suffix, by value. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** The id that follows from a digest: its first 128 bits. @param digest 32 hexadecimal digits at least */
export function idOfDigest<P extends IdPrefix>(prefix: P, digest: string): IdByPrefix[P] {
  const bits = BigInt(`0x${digest.slice(0, 32)}`);
  const digits = Array.from({ length: 26 }, (_, i) => DIGITS[Number((bits >> BigInt(5 * (25 - i))) & 31n)]);
  // Safe: the prefix decides the brand.
  return `${prefix}_${digits.join("")}` as string as IdByPrefix[P];
}

/** An id that sorts before those of all tasks that are created at this time or later. @param ms in whole epoch milliseconds */
export function firstTaskIdAt(ms: number): TaskId {
  const digits = Math.min(Math.max(ms, 0), LAST_MS).toString(16);
  return idOfDigest("task", digits.padStart(12, "0").padEnd(32, "0"));
}

/** The last time that an id can have: 48 bits. */
const LAST_MS = 2 ** 48 - 1;

const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Whether `text` has the form of an identifier with this prefix; says nothing about whether it exists. */
export function isId<P extends IdPrefix>(prefix: P, text: string): text is IdByPrefix[P] & string {
  return text.startsWith(`${prefix}_`) && SUFFIX.test(text.slice(prefix.length + 1));
}
