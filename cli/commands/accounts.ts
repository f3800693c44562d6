import type { Command } from "commander";
import { addGroup, LOCAL_COMMANDS } from "../command.ts";
import type { Context } from "../context.ts";
import { addActivate, addSuspend, addUpdate } from "./accounts/change.ts";
import { addCreate } from "./accounts/create.ts";
import { addList } from "./accounts/list.ts";
import { addCredit, addRefund } from "./accounts/money.ts";
import { addShow } from "./accounts/show.ts";

export function addAccounts(program: Command, context: Context): void {
  const accounts = addGroup(
    program,
    "accounts",
    LOCAL_COMMANDS,
    "accounts, which own keys, tasks and money",
  ).alias("account");
  addCreate(accounts, context);
  addList(accounts, context);
  addShow(accounts, context);
  addUpdate(accounts, context);
  addSuspend(accounts, context);
  addActivate(accounts, context);
  addCredit(accounts, context);
  addRefund(accounts, context);
}
