import type { Command } from "commander";
import { addCommands } from "../command.ts";
import type { Context } from "../context.ts";
import { addBackup } from "./db/backup.ts";
import { addBackups } from "./db/backups.ts";
import { addCheck } from "./db/check.ts";
import { addMove } from "./db/move.ts";
import { addRestore } from "./db/restore.ts";
import { addVacuum } from "./db/vacuum.ts";

const DB = {
  backup: addBackup,
  backups: addBackups,
  restore: addRestore,
  move: addMove,
  check: addCheck,
  vacuum: addVacuum,
};

export function defineDb(db: Command, context: Context, [word]: readonly string[]): void {
  addCommands(db, context, DB, word);
}
