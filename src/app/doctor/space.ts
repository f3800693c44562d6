import { existsSync } from "node:fs";
import type { Config } from "../../config/config.ts";
import { reclaimLines } from "../../domain/reclaimable.ts";
import { monotonicMs } from "../../runtime/clock.ts";
import { lockHolder } from "../../runtime/directory-lock.ts";
import { databaseOf } from "../data-folder.ts";
import { countReclaimable } from "../reclaimable.ts";
import type { SpaceWish } from "./folder.ts";

/** The caller of doctor waits, so a large data folder is counted only as far as this time allows. */
const COUNT_MS = 3_000;

/** How much space the settings want, and what would free some. Changes nothing. @param now epoch milliseconds */
export async function spaceWish(config: Config, now: number): Promise<SpaceWish> {
  const marks = { warn: config.disk.warnMb, refuse: config.disk.refuseMb };
  return { marks, advice: await countAdvice(config, now) };
}

async function countAdvice(config: Config, now: number): Promise<readonly string[] | undefined> {
  const { dataDir, assets, retention } = config;
  if (!existsSync(databaseOf(config))) return undefined;
  const until = monotonicMs() + COUNT_MS;
  try {
    const isInUse = lockHolder(dataDir).isHeld;
    const order = { dataDir, assets: assets.path, now, isInUse };
    return reclaimLines(await countReclaimable(order, async () => monotonicMs() < until), retention);
  } catch {
    // The checks of the folder and of the database report the problem.
    return undefined;
  }
}
