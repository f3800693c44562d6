import { expect, test } from "bun:test";
import type { Account } from "../../src/domain/access/account.ts";
import type { LogFields } from "../../src/domain/ports/runtime.ts";
import { createTellLowBalance } from "../../src/service/low-balance.ts";
import { ACCOUNT, micros } from "../helpers/store.ts";

const LOW: Account = {
  id: ACCOUNT,
  name: "web",
  mode: "prepaid",
  status: "active",
  balance: micros(3_000_000),
  held: micros(500_000),
  creditLimit: micros(1_000_000),
  priceMultiplier: 1_000_000,
  lowBalance: micros(5_000_000),
  createdAt: 0,
};

/** The one line that is logged. */
function told(account: () => Promise<Account | undefined>): Promise<[LogFields, string]> {
  return new Promise((resolve) => {
    const warn = (fields: LogFields, message: string) => resolve([fields, message]);
    createTellLowBalance({ accounts: { account }, log: { warn } })(ACCOUNT);
  });
}

test("a warning says whose balance is low, what is available and what was to be", async () => {
  expect(await told(async () => LOW)).toEqual([
    { account: ACCOUNT, account_name: "web", available: "3.500000", threshold: "5.000000", currency: "USD" },
    "an account is low on balance",
  ]);
});

test("the balance of an unlimited account is told in the same way", async () => {
  const [fields] = await told(async () => ({ ...LOW, mode: "unlimited", creditLimit: micros(0) }));
  expect(fields.available).toBe("2.500000");
});

test("a balance that cannot be read is still told", async () => {
  const error = new Error("the disk is gone");
  expect(await told(() => Promise.reject(error))).toEqual([
    { account: ACCOUNT, err: error },
    "an account is low on balance",
  ]);
});
