import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { type Invocation, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";
import { addServiceCommand } from "../../service/command.ts";
import { requireOurs } from "../../service/files.ts";
import { placesOf, type ServiceFlags } from "../../service/places.ts";
import { openSystemd, runTool } from "../../service/systemctl.ts";

const FROM_IMAGE = "--root DIR removes it from an image that systemd will run.";

export function addUninstall(service: Command, context: Context): void {
  const about = "stop the service and remove its unit; data and settings stay";
  const command = addServiceCommand(service, "uninstall", about).option(
    "--root <folder>",
    "remove it from a system's image that lies in this folder",
  );
  withExamples(command, ["svc service uninstall", "as root"], "svc service uninstall --user");
  withNotes(command, "Its user stays too: the data folder is that user's.");
  withExits(command, "notFound", "conflict");
  onRun<ServiceFlags>(command, context, uninstall);
}

async function uninstall({ context, output, options }: Invocation<ServiceFlags>): Promise<void> {
  const { root, unit, sysusers } = placesOf(options, context);
  const { name = "svc" } = options;
  const isForUser = options.user === true;
  if (!requireOurs(root, unit))
    throw new Failure(EXIT.notFound, "not_installed", `There is no ${join(root, unit)}.`, {
      hint: isForUser ? "Without --user it is one of the whole machine." : "--user is for one of your own.",
    });
  if (options.root === undefined)
    await openSystemd(isForUser, isForUser ? undefined : FROM_IMAGE).run("disable", "--now", name);
  else await runTool(["systemctl", "--quiet", "--root", root, "disable", name]);
  const removed = [unit, sysusers].flatMap((path) =>
    path !== undefined && existsSync(join(root, path)) && requireOurs(root, path) ? [path] : [],
  );
  for (const path of removed) rmSync(join(root, path));
  if (options.root === undefined) await openSystemd(isForUser).run("daemon-reload");
  output.show({ name, removed }, () => "");
  output.done(`${name} is stopped, and its unit is removed. Data and settings stay where they are.`);
}
