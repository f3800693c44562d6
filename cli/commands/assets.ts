import type { Command } from "commander";
import { addCommands } from "../command.ts";
import type { Context } from "../context.ts";
import { addClaim } from "./assets/claim.ts";
import { addGc } from "./assets/gc.ts";
import { addList } from "./assets/list.ts";
import { addMove } from "./assets/move.ts";
import { addVerify } from "./assets/verify.ts";

const ASSETS = { list: addList, gc: addGc, verify: addVerify, move: addMove, claim: addClaim };

export function defineAssets(assets: Command, context: Context, [word]: readonly string[]): void {
  addCommands(assets, context, ASSETS, word);
}
