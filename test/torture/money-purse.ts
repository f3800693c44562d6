import { formatAmount, type Micros, toMicros } from "../../src/domain/money/money.ts";
import type { QuotaReset } from "../../src/domain/money/quota.ts";
import { keyIn, svcJson } from "../e2e/support/command.ts";
import type { Dice } from "./dice.ts";
import type { Caller } from "./load.ts";

export const ACCOUNT = "purse";

/** A key of the account that may spend no more than its quota. */
export interface QuotaKey {
  readonly name: string;
  readonly key: string;
  readonly reset: QuotaReset;
  /** The most it was ever allowed. */
  limit: Micros;
}

/** One prepaid account, and the keys of those who spend it. */
export interface Purse {
  readonly callers: readonly Caller[];
  /** One of the keys without a quota. */
  readonly openKey: string;
  readonly quotaKeys: readonly QuotaKey[];
  /** A key that is given a quota on the way. */
  readonly lateKey: string;
  readonly firstCredit: Micros;
  readonly creditLimit: Micros;
}

const RESETS = ["total", "daily", "weekly", "monthly"] as const;
const OPEN_KEYS = ["open-1", "open-2", "open-3"] as const;
const LATE_KEY = "late";
const CENT = 10_000;

/** Makes account and keys on a data folder without a server. */
export async function openPurse(dataDir: string, dice: Dice, clients: number): Promise<Purse> {
  const svc = (...args: string[]) => svcJson([...args, "--data-dir", dataDir]);
  const amount = (least: number, most: number) => toMicros(dice.between(least * CENT, most * CENT));
  await svc("migrate");
  const firstCredit = amount(20, 80);
  const create = ["accounts", "create", ACCOUNT, "--mode", "prepaid", "--credit", formatAmount(firstCredit)];
  await svc(...create);
  const creditLimit = dice.chance(0.4) ? amount(1, 20) : toMicros(0);
  if (creditLimit > 0) await svc("accounts", "update", ACCOUNT, "--credit-limit", formatAmount(creditLimit));
  if (dice.chance(0.4))
    await svc("accounts", "update", ACCOUNT, "--price-multiplier", dice.pick(MULTIPLIERS));

  const keyOf = async (name: string, ...flags: string[]) =>
    keyIn(await svc("keys", "create", "--name", name, "--account", ACCOUNT, ...flags));
  const quotaKeys: QuotaKey[] = [];
  for (const reset of RESETS) {
    const limit = amount(5, 30);
    const key = await keyOf(reset, "--quota", formatAmount(limit), "--quota-reset", reset);
    quotaKeys.push({ name: reset, key, reset, limit });
  }
  const open = [];
  for (const name of [...OPEN_KEYS, LATE_KEY]) open.push(await keyOf(name));
  const keys = [...open, ...quotaKeys.map(({ key }) => key)];
  const callers = Array.from({ length: clients }, (_, i) => ({
    account: ACCOUNT,
    key: keys[i % keys.length] ?? "",
  }));
  return { callers, openKey: open[0] ?? "", quotaKeys, lateKey: LATE_KEY, firstCredit, creditLimit };
}

const MULTIPLIERS = ["1.25", "0.9", "1.333333", "0.333333"] as const;
