import type { Command } from "commander";
import { addGroup, CLIENT_COMMANDS } from "../command.ts";
import type { Context } from "../context.ts";
import { addCallbacksList } from "./callbacks/list.ts";
import { addCallbacksListen } from "./callbacks/listen.ts";
import { addCallbacksRedeliver } from "./callbacks/redeliver.ts";
import { addCallbacksShow } from "./callbacks/show.ts";
import { addCallbacksTrigger } from "./callbacks/trigger.ts";

export function addCallbacks(program: Command, context: Context): void {
  const callbacks = addGroup(
    program,
    "callbacks",
    CLIENT_COMMANDS,
    "what was posted at the end of tasks, and receiving it on your own machine",
  ).alias("callback");
  addCallbacksList(callbacks, context);
  addCallbacksShow(callbacks, context);
  addCallbacksRedeliver(callbacks, context);
  addCallbacksTrigger(callbacks, context);
  addCallbacksListen(callbacks, context);
}
