import type { Command } from "commander";
import { addGroup, LOCAL_COMMANDS } from "../command.ts";
import type { Context } from "../context.ts";
import { addCreate } from "./keys/create.ts";
import { addList } from "./keys/list.ts";
import { addRevoke } from "./keys/revoke.ts";
import { addRotate } from "./keys/rotate.ts";
import { addShow } from "./keys/show.ts";
import { addUpdate } from "./keys/update.ts";

export function addKeys(program: Command, context: Context): void {
  const keys = addGroup(program, "keys", LOCAL_COMMANDS, "API keys").alias("key");
  addCreate(keys, context);
  addList(keys, context);
  addShow(keys, context);
  addUpdate(keys, context);
  addRotate(keys, context);
  addRevoke(keys, context);
}
