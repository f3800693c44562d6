import type { Command } from "commander";
import { addCommands } from "../command.ts";
import type { Context } from "../context.ts";
import { addInstall } from "./service/install.ts";
import { addStatus } from "./service/status.ts";
import { addUninstall } from "./service/uninstall.ts";

const SERVICE = { install: addInstall, uninstall: addUninstall, status: addStatus };

/** `svc service`: the server as a service of systemd. */
export function defineService(service: Command, context: Context, [word]: readonly string[]): void {
  addCommands(service, context, SERVICE, word);
}
