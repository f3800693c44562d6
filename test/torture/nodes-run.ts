import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { svc } from "../e2e/support/command.ts";
import { type DatabasePair, startPair } from "../moving/database-pair.ts";
import { createDice, type Dice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import { createBuyers } from "./nodes-buyers.ts";
import { createFleet, type Fleet } from "./nodes-fleet.ts";
import { type Networks, openNetworks } from "./nodes-networks.ts";
import { openReceiver } from "./nodes-receiver.ts";
import { verifyNodes } from "./nodes-verify.ts";
import { createWatchers } from "./nodes-watchers.ts";

export interface NodesOptions {
  readonly rounds: number;
  readonly nodes: number;
  readonly seed: number;
}

/** What breaks, and how often. */
const EVENTS = [
  ...[
    "kill",
    "kill",
    "kill",
    "kill",
    "stand still",
    "drain",
    "cut connections",
    "lose network",
    "lose network",
  ],
  ...["restart database", "fail over", "slow commits", "slow commits"],
] as const;

/** Longer than a lease, and than the time after which a node is gone. */
const STANDS_STILL_MS = 12_000;
/** Shorter and longer than these. */
const CUT_MS: [number, number] = [1_000, 15_000];
const SLOW_MS: [number, number] = [200, 4_000];
const CALM_MS: [number, number] = [50, 700];

interface Scene {
  readonly fleet: Fleet;
  readonly database: DatabasePair;
  readonly dice: Dice;
  readonly canCut: boolean;
  readonly tell: (text: string) => void;
}

/** Breaks something again and again while clients create tasks, then verifies that all is as if nothing had broken. */
export async function runNodes(options: NodesOptions, findings: Findings, tell: (text: string) => void) {
  const folder = mkdtempSync("/tmp/svc-nodes-");
  const opened = openNetworks(options.nodes);
  const networks = "lack" in opened ? undefined : opened;
  if ("lack" in opened) tell(`no networks are cut: ${opened.lack}`);
  const host = networks?.hostAddress ?? "127.0.0.1";
  const database = await startPair(folder, host);
  try {
    const fleet = createFleet({
      ...{ count: options.nodes, folder: join(folder, "nodes"), url: database.url, networks },
    });
    try {
      await fleet.start();
      return await play(options, { fleet, database, host, networks, findings, tell });
    } finally {
      await fleet.stop();
    }
  } finally {
    await database.stop();
    networks?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Stage extends Pick<Scene, "fleet" | "database" | "tell"> {
  readonly host: string;
  readonly networks: Networks | undefined;
  readonly findings: Findings;
}

async function play(options: NodesOptions, { fleet, database, host, networks, findings, tell }: Stage) {
  const { seed } = options;
  const { key, secret } = await signingKey(database.url);
  const receiver = openReceiver({ host, secret, dice: createDice(seed, "receiver") });
  const asKey = { fleet, key };
  const buyers = createBuyers({ ...asKey, dice: createDice(seed, "buyers"), callbackUrl: receiver.url });
  const watchers = createWatchers({ ...asKey, dice: createDice(seed, "watchers") });
  const scene = { fleet, database, dice: createDice(seed, "nodes"), canCut: networks !== undefined, tell };
  const events = await breakOften(options.rounds, scene);
  database.go();
  await fleet.heal();
  const bought = await buyers.end();
  const seen = { bought, watchers, receiver };
  const told = await verifyNodes({ url: database.url, fleet, key, findings, ...seen });
  const errors = fleet.said("error");
  receiver.stop();
  return { events, errors, ...bought, accepted: bought.tasks.size, ...told };
}

/** A key whose callbacks are signed. */
async function signingKey(url: string): Promise<{ key: string; secret: string }> {
  const create = ["keys", "create", "--name", "buyers", "--callback-secret", "new", "--show-secret-only"];
  const { stdout, stderr } = await svc(create, {
    env: { SVC_DATABASE: url, SVC_SECRET_KEY: "k".repeat(43) },
  });
  const [key, secret] = stdout.split("\n");
  if (key === undefined || secret === undefined || secret === "")
    throw new Error(`There is no key. ${stderr}`);
  return { key, secret };
}

async function breakOften(rounds: number, scene: Scene): Promise<Record<string, number>> {
  const events: Record<string, number> = {};
  const { dice, canCut, tell } = scene;
  for (let round = 0; round < rounds; round++) {
    const chosen = EVENTS[dice.between(0, EVENTS.length - 1)] as (typeof EVENTS)[number];
    const event = chosen === "lose network" && !canCut ? "cut connections" : chosen;
    events[event] = (events[event] ?? 0) + 1;
    await Bun.sleep(dice.between(...CALM_MS));
    const began = performance.now();
    await carryOut(event, scene);
    tell(`round ${round + 1} of ${rounds}: ${event}, ${Math.round(performance.now() - began)} ms`);
  }
  return events;
}

async function carryOut(event: (typeof EVENTS)[number], { fleet, dice, database }: Scene): Promise<void> {
  const at = dice.between(0, fleet.count - 1);
  switch (event) {
    case "kill":
      return fleet.kill(at);
    case "drain":
      return fleet.drain(at);
    case "stand still":
      return fleet.standStill(at, STANDS_STILL_MS);
    case "lose network":
      return fleet.cutNetwork(at, dice.between(...CUT_MS));
    case "cut connections":
      return await fleet.cut();
    case "restart database":
      return await database.restart();
    case "fail over":
      return await database.failOver();
    case "slow commits": {
      await database.holdCommits();
      await Bun.sleep(dice.between(...SLOW_MS));
      return database.go();
    }
  }
}
