import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../helpers/free-port.ts";
import { inWords } from "../helpers/in-words.ts";
import { emptyFolder, type Server, spawnServer } from "../helpers/server.ts";
import { auditIsClean } from "./audit.ts";
import { checkCommitted, openCopy } from "./database.ts";
import { createDice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import { decideKill, liveAndDie } from "./killer.ts";
import { type Load, startLoad } from "./load.ts";
import { checkBooks, checkLastDefence, checkTold } from "./money-books.ts";
import { type Operator, startOperator } from "./money-operator.ts";
import { rehearsePurchase } from "./money-purchases.ts";
import { openPurse, type Purse } from "./money-purse.ts";
import type { Spent } from "./money-report.ts";
import { hasComeToRest, spendTheRest, watchBalance } from "./money-spending.ts";
import { checkUpstream } from "./upstream.ts";
import { checkStored, checkThroughApi, tallyOf } from "./verify.ts";

export interface MoneyOptions {
  readonly seed: number;
  readonly clients: number;
  readonly keep: boolean;
}

/** Between two creates of one client. */
const PAUSE_MS: [number, number] = [20, 200];
const LIFETIME = { minMs: 60, maxMs: 500 };
/** How long the last server serves before the operator goes home, and until the clients do. */
const LAST_MS: [number, number] = [1_200, 2_400];

/** Everything of one round, wherever it is made. */
interface Place {
  readonly folder: string;
  readonly dataDir: string;
  readonly port: number;
  readonly logs: string;
  readonly scratch: string;
}

/** Opens an account, lets it be spent under kills, and compares all books afterwards. */
export async function playRound(options: MoneyOptions, findings: Findings): Promise<Spent> {
  const startedAtMs = performance.now();
  const { seed } = options;
  const folder = emptyFolder("money");
  const place: Place = {
    folder,
    dataDir: join(folder, "svc-data"),
    port: freePort(),
    logs: emptyFolder("money-log"),
    scratch: emptyFolder("money-scratch"),
  };
  const purse = await openPurse(place.dataDir, createDice(seed, "purse"), options.clients);
  const origin = `http://127.0.0.1:${place.port}`;
  const { callers } = purse;
  const load = startLoad({ origin, seed, callers, pauseMs: PAUSE_MS, rehearse: rehearsePurchase });
  const operator = startOperator({
    ...place,
    origin,
    dices: [1, 2].map((number) => createDice(seed, `operator ${number}`)),
    purse,
    load,
    findings,
  });
  const watch = watchBalance(origin, purse, findings);

  const kills = await killSome(seed, place, { load, findings });
  const server = launch(place);
  await server.ready();
  await Bun.sleep(createDice(seed, "end").between(...LAST_MS));
  await operator.stop();
  await load.finish();
  await watch.stop();
  const audits = kills + 2;
  const settled = await settle(server, { purse, load, operator, findings });
  await checkAtRest(place, { purse, load, ends: settled.ends, findings });
  if (!options.keep && findings.all.length === 0) {
    for (const path of [place.folder, place.logs, place.scratch]) rmSync(path, { recursive: true });
  }
  return {
    rounds: 1,
    kills,
    tally: tallyOf(load.creations, settled.ends),
    credited: operator.credited(),
    captured: settled.captured,
    refunded: settled.refunded,
    moves: operator.moves,
    audits,
    elapsedMs: performance.now() - startedAtMs,
  };
}

function launch({ folder, dataDir, port, logs }: Place): Server {
  return spawnServer({ folder, dataDir, port, logs });
}

/** @returns how many kills there were */
async function killSome(
  seed: number,
  place: Place,
  { load, findings }: { load: Load; findings: Findings },
): Promise<number> {
  const dice = createDice(seed, "kills");
  const kills = dice.between(1, 3);
  for (let kill = 1; kill <= kills; kill++) {
    const server = launch(place);
    await liveAndDie(server, decideKill(dice, LIFETIME), load.nextCreate);
    const where = `seed ${seed}, after kill ${kill}`;
    using db = openCopy(join(place.dataDir, "svc.db"), place.scratch);
    checkCommitted(db, where, findings);
    await auditIsClean(place.dataDir, where, findings);
  }
  return kills;
}

/** Lets every task end, spends what is left, and compares what clients and operator were told with what the account says. */
async function settle(
  server: Server,
  to: { purse: Purse; load: Load; operator: Operator; findings: Findings },
) {
  const { purse, load, findings } = to;
  await hasComeToRest(server.url, purse.openKey);
  await auditIsClean(server.dataDir, "while serving", findings);
  await spendTheRest(server.url, to);
  const ends = await checkThroughApi(server.url, { callers: purse.callers, load, findings });
  for (const surprise of load.surprises) findings.add(surprise);
  const sums = await checkTold(server.url, to);
  const exitCode = await server.stop();
  findings.check(
    exitCode === 0,
    () => `the last server ended with ${exitCode}: ${server.stderr().slice(-2_000)}`,
  );
  return { ends, ...sums };
}

async function checkAtRest(
  place: Place,
  told: { purse: Purse; load: Load; ends: Parameters<typeof checkStored>[1]["ends"]; findings: Findings },
): Promise<void> {
  const { findings } = told;
  using db = inWords(new Database(join(place.dataDir, "svc.db"), { strict: true }));
  checkCommitted(db, "at rest", findings);
  checkStored(db, told, findings);
  checkBooks(db, told);
  checkLastDefence(db, findings);
  checkUpstream(place.dataDir, db, findings);
  await auditIsClean(place.dataDir, "at rest", findings);
}
