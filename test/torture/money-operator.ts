import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { formatAmount, type Micros, sumMicros, toMicros } from "../../src/domain/money/money.ts";
import { type Ended, svc } from "../e2e/support/command.ts";
import { send } from "./client.ts";
import type { Dice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import type { Load } from "./load.ts";
import { ACCOUNT, type Purse } from "./money-purse.ts";

/** One refund the operator was told to have given; without an amount, of all that was charged. */
export interface Refund {
  readonly taskId: string;
  readonly amount?: Micros;
}

export interface Operator {
  readonly refunds: readonly Refund[];
  readonly moves: Readonly<Record<string, number>>;
  /** All that was put on the account, less what was taken off it. */
  credited(): Micros;
  /** Resolves when the last command has ended. */
  stop(): Promise<void>;
}

const PAUSE_MS: [number, number] = [10, 80];
const CENT = 10_000;
const EXIT_REFUSED = new Set([5, 7, 13]);

/** Prices to set: by output, by megapixel with less delivered than held, by tokens, several lines at once, with a minimum. */
const RULES: readonly [JsonObject, ...JsonObject[]] = [
  { lines: [{ sku: "image", unit: "output", amount: "0.010000" }] },
  { lines: [{ sku: "image", unit: "output", amount: "0.007777" }], minimum: "0.011111" },
  { lines: [{ sku: "pixels", unit: "megapixel", amount: "0.003333", most: 4 }] },
  {
    lines: [
      { sku: "image", unit: "output", amount: "0.002001" },
      { sku: "pixels", unit: "megapixel", amount: "0.001111", most: 9 },
    ],
    minimum: "0.005000",
  },
  { lines: [{ sku: "tokens", unit: "output_token", amount: "6.543210", per: 1_000_000, most: 1_999 }] },
];

/** Somebody with the command line, who goes on whether or not a server is up. Every command is let run to its end. */
export function startOperator(options: {
  readonly origin: string;
  readonly dataDir: string;
  readonly scratch: string;
  /** One for each of those who work at once. */
  readonly dices: readonly Dice[];
  readonly purse: Purse;
  readonly load: Load;
  readonly findings: Findings;
}): Operator {
  const { dataDir, purse, load, findings } = options;
  const moves: Record<string, number> = {};
  const refunds: Refund[] = [];
  const refunded = new Set<string>();
  const credits: Micros[] = [purse.firstCredit];
  let isStopping = false;

  const run = (...args: string[]) => svc([...args, "--json", "--data-dir", dataDir]);

  /** Counts what was done, and reports what neither was done nor may be refused. @returns whether it was done */
  function count(name: string, { exitCode, stderr }: Ended, mayBeRefused = false): boolean {
    const isRefused = EXIT_REFUSED.has(exitCode) && mayBeRefused;
    const outcome = exitCode === 0 ? name : `${name} refused`;
    moves[outcome] = (moves[outcome] ?? 0) + 1;
    findings.check(exitCode === 0 || isRefused, () => `${name} ended with ${exitCode}: ${stderr.trim()}`);
    return exitCode === 0;
  }

  async function topUp(dice: Dice): Promise<void> {
    const given = amountOf(dice, 2, 20);
    if (count("top-up", await run("accounts", "credit", ACCOUNT, formatAmount(given)))) credits.push(given);
  }

  async function takeAway(dice: Dice): Promise<void> {
    const taken = toMicros(-amountOf(dice, 1, 5));
    const ended = await run("accounts", "credit", ACCOUNT, formatAmount(taken), "--reason", "mistake");
    if (count("withdrawal", ended, true)) credits.push(taken);
  }

  async function setPrice(dice: Dice): Promise<void> {
    const [rule, number] = [dice.pick(RULES), dice.between(0, 2 ** 31)];
    const file = join(options.scratch, `rule-${number}.json`);
    await Bun.write(file, JSON.stringify(rule));
    count("price", await run("pricing", "set", "sandbox-image", "--rule", file, "--reason", "torture"));
  }

  async function resetPrice(): Promise<void> {
    count("price reset", await run("pricing", "reset", "sandbox-image", "--yes"), true);
  }

  /** None while no server answers. */
  async function completedTasks(): Promise<string[]> {
    const path = "/v1/tasks?status=completed&limit=50";
    const tasks = (await send(options.origin, { path, key: purse.openKey }))?.data.tasks;
    if (!Array.isArray(tasks)) return [];
    return tasks.flatMap((task) => (isJsonObject(task) ? [String(task.task_id)] : []));
  }

  /** Also ones that cost nothing, or nothing yet. */
  function acceptedTasks(): string[] {
    return load.creations.flatMap(({ outcome }) => (outcome.kind === "accepted" ? [outcome.taskId] : []));
  }

  /** At times two commands at once for one task, or one for a task that had its refund: only one of all gives the money back. */
  async function refund(dice: Dice): Promise<void> {
    const tasks = dice.chance(0.8) ? await completedTasks() : acceptedTasks();
    const taskId = tasks[dice.between(0, tasks.length - 1)];
    if (taskId === undefined) return;
    const part = dice.chance(0.5) ? amountOf(dice, 0.1, 0.5) : undefined;
    const args = ["accounts", "refund", taskId, "--reason", "torture"];
    if (part !== undefined) args.push("--amount", formatAmount(part));
    const ended = await Promise.all(Array.from({ length: dice.between(1, 2) }, () => run(...args)));
    const given = ended.filter((each) => count("refund", each, true));
    if (given.length === 0) return;
    findings.check(given.length === 1 && !refunded.has(taskId), () => `${taskId} was refunded again`);
    refunded.add(taskId);
    refunds.push(part === undefined ? { taskId } : { taskId, amount: part });
  }

  async function widenQuota(dice: Dice): Promise<void> {
    const key = purse.quotaKeys[dice.between(0, purse.quotaKeys.length - 1)];
    if (key === undefined) return;
    const limit = toMicros(key.limit + amountOf(dice, 1, 10));
    const args = ["keys", "update", key.name, "--quota", formatAmount(limit), "--quota-reset", key.reset];
    // Before the command, for it may be in force before its end is known.
    key.limit = limit;
    count("quota", await run(...args));
  }

  async function limitLateKey(dice: Dice): Promise<void> {
    const args = ["--quota", formatAmount(amountOf(dice, 3, 20)), "--quota-reset", "monthly"];
    count("late quota", await run("keys", "update", purse.lateKey, ...args));
  }

  async function audit(): Promise<void> {
    count("audit", await run("audit"));
  }

  const choices: readonly ((dice: Dice) => Promise<void>)[] = [
    ...Array.from({ length: 8 }, () => topUp),
    ...Array.from({ length: 5 }, () => setPrice),
    ...Array.from({ length: 5 }, () => refund),
    ...[takeAway, takeAway, resetPrice, widenQuota, widenQuota, limitLateKey, audit, audit],
  ];

  async function work(dice: Dice): Promise<void> {
    while (!isStopping) {
      await choices[dice.between(0, choices.length - 1)]?.(dice);
      await Bun.sleep(dice.between(...PAUSE_MS));
    }
  }
  const working = options.dices.map(work);
  return {
    refunds,
    moves,
    credited: () => sumMicros(credits),
    async stop() {
      isStopping = true;
      await Promise.all(working);
    },
  };
}

function amountOf(dice: Dice, leastCents: number, mostCents: number): Micros {
  return toMicros(dice.between(leastCents * CENT, mostCents * CENT));
}
