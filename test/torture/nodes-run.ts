import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../moving/database-servers.ts";
import { createDice, type Dice } from "./dice.ts";
import type { Findings } from "./findings.ts";
import { createBuyers } from "./nodes-buyers.ts";
import { createFleet } from "./nodes-fleet.ts";
import { verifyNodes } from "./nodes-verify.ts";

export interface NodesOptions {
  readonly rounds: number;
  readonly nodes: number;
  readonly seed: number;
}

/** What breaks, and how often. */
const EVENTS = ["kill", "kill", "kill", "stand still", "drain", "cut", "restart database"] as const;
type Event = (typeof EVENTS)[number];

/** Longer than a lease, and than the time after which a node is gone. */
const STANDS_STILL_MS = 12_000;

/** Breaks something again and again while clients create tasks, then verifies that all is as if nothing had broken. */
export async function runNodes(options: NodesOptions, findings: Findings) {
  const folder = mkdtempSync("/tmp/svc-nodes-");
  const server = await startPostgres(folder);
  const dice = createDice(options.seed, "nodes");
  try {
    const url = await server.newDatabase();
    const fleet = createFleet({ count: options.nodes, folder: join(folder, "nodes"), url });
    await fleet.start();
    const buyers = createBuyers({ fleet, dice: createDice(options.seed, "buyers") });
    const events: Record<string, number> = {};
    for (let round = 0; round < options.rounds; round++) {
      const event = EVENTS[dice.between(0, EVENTS.length - 1)] as Event;
      events[event] = (events[event] ?? 0) + 1;
      await Bun.sleep(dice.between(50, 700));
      await carryOut(event, { fleet, dice, restart: server.restart });
      if (process.stdout.isTTY) process.stdout.write(`\r${round + 1} of ${options.rounds}: ${event}      `);
    }
    await fleet.heal();
    const bought = await buyers.end();
    await verifyNodes({ url, fleet, bought, findings });
    await fleet.stop();
    return { events, ...bought, accepted: bought.tasks.size };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function carryOut(
  event: Event,
  {
    fleet,
    dice,
    restart,
  }: { fleet: ReturnType<typeof createFleet>; dice: Dice; restart: () => Promise<void> },
): Promise<void> {
  const at = dice.between(0, fleet.count - 1);
  switch (event) {
    case "kill":
      return await fleet.kill(at);
    case "drain":
      return await fleet.drain(at);
    case "stand still":
      return fleet.standStill(at, STANDS_STILL_MS);
    case "cut":
      return await fleet.cut();
    case "restart database":
      return await restart();
  }
}
