import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { type Micros, parseAmount } from "../../src/domain/money/money.ts";
import { send } from "./client.ts";
import type { Findings } from "./findings.ts";
import type { Load, Outcome } from "./load.ts";
import { plainPurchase } from "./money-purchases.ts";
import { ACCOUNT, type Purse } from "./money-purse.ts";

const LOOK_AGAIN_MS = 25;
const REST_WITHIN_MS = 30_000;
const AT_ONCE = 32;
/** More than any round's money is enough for. */
const MAX_BATCHES = 100;

/** What an account says of itself. */
export interface Balance {
  readonly total: Micros;
  readonly reserved: Micros;
  readonly live: number;
  readonly quota: { readonly used: Micros; readonly reserved: Micros } | undefined;
}

/** @returns undefined when the server does not answer */
export async function readBalance(origin: string, key: string): Promise<Balance | undefined> {
  const answer = await send(origin, { path: "/v1/account/status", key });
  if (answer?.status !== 200) return undefined;
  const { data } = answer;
  const balance = member(data, "balance");
  const quota = member(member(data, "key"), "quota");
  const { pending, processing } = member(data, "tasks");
  return {
    total: amountIn(balance, "total"),
    reserved: amountIn(balance, "reserved"),
    live: Number(pending) + Number(processing),
    quota:
      quota.limit === null
        ? undefined
        : { used: amountIn(quota, "used"), reserved: amountIn(quota, "reserved") },
  };
}

/** Looks at the account all the time: more than there is and more than may be owed is never spent. */
export function watchBalance(origin: string, { openKey, creditLimit }: Purse, findings: Findings) {
  let isStopping = false;
  const watching = (async () => {
    while (!isStopping) {
      const balance = await readBalance(origin, openKey);
      if (balance !== undefined) {
        const left = balance.total - balance.reserved + creditLimit;
        findings.check(left >= 0, () => `the account is ${-left} micros below what it may owe`);
      }
      await Bun.sleep(LOOK_AGAIN_MS);
    }
  })();
  return {
    async stop() {
      isStopping = true;
      await watching;
    },
  };
}

/** Waits until the account has no live task. @throws Error when it still has after half a minute */
export async function hasComeToRest(origin: string, key: string): Promise<void> {
  const deadline = performance.now() + REST_WITHIN_MS;
  while (performance.now() < deadline) {
    if ((await readBalance(origin, key))?.live === 0) return;
    await Bun.sleep(LOOK_AGAIN_MS);
  }
  throw new Error("There are still live tasks half a minute after the last create.");
}

/** Buys the plainest picture again and again, many at once, until nothing is left that would be enough for one. */
export async function spendTheRest(
  origin: string,
  { purse, load, findings }: { purse: Purse; load: Load; findings: Findings },
): Promise<void> {
  for (let batch = 1; batch <= MAX_BATCHES; batch++) {
    const bought = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, i) => buy(origin, `rest-${batch}-${i}`, { purse, load, findings })),
    );
    await hasComeToRest(origin, purse.openKey);
    // All of them were refused while nothing was held: what is left is not enough for one.
    if (bought.every((isBought) => !isBought)) return;
  }
  findings.add(`the account is not spent after ${MAX_BATCHES * AT_ONCE} pictures`);
}

async function buy(
  origin: string,
  marker: string,
  { purse, load, findings }: { purse: Purse; load: Load; findings: Findings },
): Promise<boolean> {
  const rehearsal = plainPurchase(marker);
  const answer = await send(origin, {
    path: "/v1/images/generations",
    key: purse.openKey,
    body: rehearsal.body,
  });
  const taskId = answer?.data.task_id;
  if (answer?.status === 200 && typeof taskId === "string") {
    const cost = answer.headers.get("x-request-cost");
    const outcome: Outcome = { kind: "accepted", taskId, replayed: false, sends: 1, cost };
    load.creations.push({ account: ACCOUNT, rehearsal, outcome });
    return true;
  }
  findings.check(
    answer?.status === 402 && answer.data.error_code === "insufficient_quota",
    () => `${marker}: ${answer?.status} ${JSON.stringify(answer?.body)}`,
  );
  load.creations.push({ account: ACCOUNT, rehearsal, outcome: { kind: "refused", status: 402 } });
  return false;
}

function member(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  if (isJsonObject(value)) return value;
  throw new Error(`The account status has no ${name}.`);
}

function amountIn(object: JsonObject, name: string): Micros {
  const text = object[name];
  const amount = typeof text === "string" ? parseAmount(text) : undefined;
  if (amount === undefined) throw new Error(`The account status has no amount as ${name}.`);
  return amount;
}
