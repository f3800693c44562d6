/*
 * `bun run torture:money`: many clients spend one prepaid balance to nothing while the operator tops it up, takes some of it away,
 * sets prices, widens quotas and gives refunds, and the compiled server is killed under it all. After each round every figure
 * must add up: what clients were told, what the ledger says, what quotas and tasks say, and what `svc audit` makes of it.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { keepFolders, SVC } from "../helpers/server.ts";
import { createFindings } from "./findings.ts";
import { addSpent, NOTHING_SPENT, printSpent, roundLine } from "./money-report.ts";
import { type MoneyOptions, playRound } from "./money-round.ts";

const USAGE = `bun run torture:money [--rounds 100] [--seed N] [--clients 64] [--keep]

  --rounds   how many accounts are spent, each on a data folder of its own
  --seed     decides what happens in the first round; each further round has the next number, printed with it
  --clients  how many clients spend the account at once
  --keep     leave the data folders behind
`;
const READ_AT_MOST = 20;

try {
  const { rounds, seed, ...options } = readOptions(process.argv.slice(2));
  if (!existsSync(SVC)) throw new Error(`There is no ${SVC}; \`bun run build\` makes it.`);
  process.stdout.write(`torture:money: ${rounds} rounds, seed ${seed}, ${options.clients} clients, ${SVC}\n`);
  const findings = createFindings();
  let total = NOTHING_SPENT;
  for (let round = 0; round < rounds; round++) {
    const before = findings.all.length;
    const spent = await playRound({ ...options, seed: seed + round }, findings).catch((error: unknown) => {
      findings.add(`the round with seed ${seed + round} went no further: ${String(error)}`);
      return NOTHING_SPENT;
    });
    total = addSpent(total, spent);
    process.stdout.write(roundLine(round + 1, seed + round, spent, findings.all.length - before));
    if (findings.all.length > 0) break;
  }
  if (options.keep || findings.all.length > 0) keepFolders();
  printSpent(total, findings.all.slice(0, READ_AT_MOST), findings.all.length);
  process.exit(findings.all.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}

/** @throws Error that says what is wrong with the arguments */
function readOptions(args: readonly string[]): Omit<MoneyOptions, "seed"> & { rounds: number; seed: number } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "100" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
      clients: { type: "string", default: "64" },
      keep: { type: "boolean", default: false },
    },
  });
  return {
    rounds: whole("--rounds", values.rounds),
    seed: whole("--seed", values.seed),
    clients: whole("--clients", values.clients),
    keep: values.keep,
  };
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${name} must be a whole number, got "${text}".`);
}
