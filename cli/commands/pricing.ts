import type { Command } from "commander";
import { addGroup, LOCAL_COMMANDS } from "../command.ts";
import type { Context } from "../context.ts";
import { EXAMPLES } from "./pricing/examples.ts";
import { addList } from "./pricing/list.ts";
import { addReset } from "./pricing/reset.ts";
import { addSet } from "./pricing/set.ts";
import { addShow } from "./pricing/show.ts";

export function addPricing(program: Command, context: Context): void {
  const pricing = addGroup(program, "pricing", LOCAL_COMMANDS, "what each model costs").addHelpText(
    "after",
    EXAMPLES,
  );
  addList(pricing, context);
  addShow(pricing, context);
  addSet(pricing, context);
  addReset(pricing, context);
}
