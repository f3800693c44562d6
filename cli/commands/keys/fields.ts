import { type ApiKey, keyStatus } from "../../../src/domain/access/account.ts";
import { KEY_LIMITS } from "../../../src/domain/access/key-policy.ts";
import { type Field, termFields } from "../../format/terms.ts";
import { formatTime } from "../../format/units.ts";
import type { Manage } from "../../local.ts";

/** A key in names and values, for people. */
export function keyFields(key: ApiKey, account: string | undefined, now: number): Field[] {
  const time = (ms: number | undefined) => (ms === undefined ? undefined : formatTime(ms));
  const { previous } = key;
  return [
    ["id", key.id],
    ["name", key.name],
    ["account", account === undefined ? key.accountId : `${account} (${key.accountId})`],
    ["key", key.display],
    [
      "old key",
      previous && previous.expiresAt > now
        ? `${previous.display} until ${time(previous.expiresAt)}`
        : undefined,
    ],
    ["status", keyStatus(key, now)],
    ["created", time(key.createdAt)],
    ["expires", time(key.expiresAt) ?? "never"],
    ["revoked", time(key.revokedAt)],
    ...limitFields(key),
  ];
}

/** The limits of a key, and whether it signs callbacks. */
export function limitFields({ policy, signsCallbacks }: ApiKey): Field[] {
  return [
    ...Object.values(termFields(KEY_LIMITS, policy)),
    ["callbacks", signsCallbacks ? "signed" : undefined],
  ];
}

export async function accountNames(manage: Manage): Promise<Map<string, string>> {
  return new Map((await manage.listAccounts()).map((account) => [account.id, account.name]));
}
