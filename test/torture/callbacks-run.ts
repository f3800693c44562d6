import { Database } from "bun:sqlite";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { readDatabase } from "../e2e/support/database.ts";
import { freePort } from "../helpers/free-port.ts";
import { inWords } from "../helpers/in-words.ts";
import { emptyFolder, keepFolders, type Server, spawnServer } from "../helpers/server.ts";
import { auditIsClean } from "./audit.ts";
import { checkCallbacksCommitted, openSends, storedCallbacks } from "./callbacks-database.ts";
import { type DeliveryKillName, decideDeliveryKill, killAtDelivery } from "./callbacks-killer.ts";
import { createPlanner } from "./callbacks-plans.ts";
import { openReceivers, type Receivers } from "./callbacks-receivers.ts";
import { type CallbackTally, checkDeliveries } from "./callbacks-verify.ts";
import { checkCommitted, openCopy } from "./database.ts";
import { createDice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import { type Load, startLoad } from "./load.ts";
import { checkStored, checkThroughApi, type Tally, tallyOf } from "./verify.ts";

export interface CallbackTortureOptions {
  readonly kills: number;
  readonly seed: number;
  /** With receivers that never answer; a run takes most of a minute more. */
  readonly withHangs: boolean;
  /** Keep the data folder. */
  readonly keep: boolean;
}

export interface CallbackReport {
  readonly seed: number;
  readonly kills: Readonly<Partial<Record<DeliveryKillName, number>>>;
  readonly tasks: Tally;
  readonly callbacks: CallbackTally;
  /** Kills that fell into sends, and how many sends they cut off. */
  readonly hits: { readonly kills: number; readonly sends: number };
  /** Of any host. */
  readonly mostConnections: number;
  readonly settledInMs: number;
  readonly elapsedMs: number;
  readonly dataDir: string;
}

const CLIENTS = 4;
/** Between two creates of one client. */
const PAUSE_MS: [number, number] = [20, 90];
const LIFE_MS: [number, number] = [20, 400];
const DELAY_SECONDS = 0.4;
/** The delay less its jitter, and less what two clocks and a busy machine may disagree on. */
const LEAST_APART_MS = DELAY_SECONDS * 1_000 * 0.8 - 20;
const MOST_AT_ONCE = 4;
const SETTLED_WITHIN_MS = 120_000;
const LOOK_AGAIN_MS = 50;

const SERVE = [
  ...["--egress-allow", "127.0.0.0/8"],
  ...["--callbacks-delays-seconds", Array.from({ length: 4 }, () => DELAY_SECONDS).join()],
  ...["--callbacks-host-concurrency", String(MOST_AT_ONCE)],
];

interface Place {
  readonly folder: string;
  readonly dataDir: string;
  readonly port: number;
  readonly logs: string;
  readonly scratch: string;
}

/** What the run works with, and what it has seen so far. */
interface Scene {
  readonly place: Place;
  readonly receivers: Receivers;
  readonly load: Load;
  readonly findings: Findings;
  /** Sends that a kill cut off. */
  readonly cutOff: Set<string>;
}

/** Kills the server at its deliveries, lets the last one deliver the rest, and compares both sides of every callback. */
export async function runCallbackTorture(
  options: CallbackTortureOptions,
  findings: Findings,
): Promise<CallbackReport> {
  const startedAtMs = performance.now();
  const folder = emptyFolder("callbacks");
  const place: Place = {
    folder,
    dataDir: join(folder, "svc-data"),
    port: freePort(),
    logs: emptyFolder("callbacks-log"),
    scratch: emptyFolder("callbacks-copy"),
  };
  const planner = createPlanner({
    withHangs: options.withHangs,
    originOf: (manner, dice) => receivers.originOf(manner, dice),
  });
  const receivers = openReceivers(planner.plans);
  const callers = Array.from({ length: CLIENTS }, () => ({ account: "default", key: "" }));
  const key = await firstKey(place);
  for (const caller of callers) caller.key = key;
  const load = startLoad({
    origin: `http://127.0.0.1:${place.port}`,
    seed: options.seed,
    callers,
    pauseMs: PAUSE_MS,
    rehearse: planner.rehearse,
  });
  const scene: Scene = { place, receivers, load, findings, cutOff: new Set() };
  const { kills, hits } = await killOften(options, scene);

  const server = launch(scene.place, receivers);
  await server.ready();
  const readyAtMs = performance.now();
  await load.finish();
  const ends = await checkThroughApi(server.url, { callers, load, findings });
  for (const surprise of load.surprises) findings.add(surprise);
  await untilSettled(place.dataDir, findings);
  const settledInMs = performance.now() - readyAtMs;
  const exitCode = await server.stop();
  findings.check(
    exitCode === 0,
    () => `the last server ended with ${exitCode}: ${server.stderr().slice(-2_000)}`,
  );
  receivers.stop();

  using db = inWords(new Database(join(place.dataDir, "svc.db"), { strict: true }));
  checkCommitted(db, "at rest", findings);
  checkCallbacksCommitted(db, "at rest", findings);
  checkStored(db, { load, ends }, findings);
  findings.check(openSends(db).length === 0, () => `sends without an outcome: ${openSends(db).join(", ")}`);
  const mostConnections = receivers.mostAtOnce();
  findings.check(
    mostConnections <= MOST_AT_ONCE,
    () => `a host had ${mostConnections} connections at once, allowed are ${MOST_AT_ONCE}`,
  );
  const seen = { plans: planner.plans, receipts: receivers.receipts, cutOff: scene.cutOff };
  const callbacks = checkDeliveries(storedCallbacks(db), { ...seen, leastApartMs: LEAST_APART_MS }, findings);
  await auditIsClean(place.dataDir, "at rest", findings);
  if (options.keep || findings.all.length > 0) keepFolders();
  return {
    seed: options.seed,
    kills,
    tasks: tallyOf(load.creations, ends),
    callbacks,
    hits: { kills: hits, sends: scene.cutOff.size },
    mostConnections,
    settledInMs,
    elapsedMs: performance.now() - startedAtMs,
    dataDir: place.dataDir,
  };
}

function launch({ folder, dataDir, port, logs }: Place, receivers: Receivers): Server {
  receivers.nextProcess();
  return spawnServer({ folder, dataDir, port, logs, args: SERVE });
}

/** A first, quiet run. */
async function firstKey(place: Place): Promise<string> {
  const { folder, dataDir, port, logs } = place;
  const server = spawnServer({ folder, dataDir, port, logs, args: SERVE });
  await server.ready();
  const key = server.firstKey();
  await server.stop();
  return key;
}

async function killOften(options: CallbackTortureOptions, scene: Scene) {
  const { place, receivers, findings, cutOff } = scene;
  const dice = createDice(options.seed, "callback kills");
  const kills: Partial<Record<DeliveryKillName, number>> = {};
  let hits = 0;
  for (let round = 1; round <= options.kills; round++) {
    const server = launch(place, receivers);
    const name = await killAtDelivery(server, decideDeliveryKill(dice, LIFE_MS), scene);
    kills[name] = (kills[name] ?? 0) + 1;
    using db = openCopy(join(place.dataDir, "svc.db"), place.scratch);
    checkCommitted(db, `after kill ${round}`, findings);
    checkCallbacksCommitted(db, `after kill ${round}`, findings);
    const open = openSends(db);
    if (open.some((send) => !cutOff.has(send))) hits += 1;
    for (const send of open) cutOff.add(send);
    if (round % 20 === 0) process.stdout.write(`  ${round} kills, ${findings.all.length} findings\n`);
    for (const log of ["stdout", "stderr"]) truncateSync(join(place.logs, log));
  }
  return { kills, hits };
}

/** Waits until no callback is owed to anybody. */
async function untilSettled(dataDir: string, findings: Findings): Promise<void> {
  const deadline = performance.now() + SETTLED_WITHIN_MS;
  const pending = () =>
    readDatabase<{ id: string }>(dataDir, "SELECT id FROM callback WHERE state = 'pending'").length;
  while (pending() > 0 && performance.now() < deadline) await Bun.sleep(LOOK_AGAIN_MS);
  findings.check(
    pending() === 0,
    () => `${pending()} callbacks are still pending after ${SETTLED_WITHIN_MS} ms`,
  );
}
