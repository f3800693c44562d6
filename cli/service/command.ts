import type { Command } from "commander";
import { addCommand, withCommonFlags } from "../command.ts";

/** Adds a command below `svc service` with the flags that say which service is meant. */
export function addServiceCommand(service: Command, name: string, about: string): Command {
  return withCommonFlags(addCommand(service, name, about))
    .option("--name <name>", "name of the unit and of its user", "svc")
    .option("--user", "a service of this user alone, run by the user's own systemd");
}
