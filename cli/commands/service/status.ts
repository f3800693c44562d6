import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { type Invocation, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import { renderFields } from "../../format/table.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";
import { addServiceCommand } from "../../service/command.ts";
import { placesOf, type ServiceFlags } from "../../service/places.ts";
import { openSystemd } from "../../service/systemctl.ts";

export function addStatus(service: Command, context: Context): void {
  const command = addServiceCommand(service, "status", "whether the service runs, and since when");
  withExamples(command, "svc service status", ["svc service status --field active", "active, or what else"]);
  withNotes(command, "Needs no right. Ends with 0 whether the service runs or not.");
  withExits(command, "notFound");
  onRun<ServiceFlags>(command, context, status);
}

async function status({ context, output, options }: Invocation<ServiceFlags>): Promise<void> {
  const { unit } = placesOf(options, context);
  const { name = "svc" } = options;
  if (!existsSync(unit))
    throw new Failure(EXIT.notFound, "not_installed", `There is no ${unit}.`, {
      hint: "`svc service install` makes it; --user is for a service of your own.",
    });
  const state = await openSystemd(options.user === true).state(name);
  const version = /\(svc (\S+)\)/.exec(readFileSync(unit, "utf8"))?.[1] ?? null;
  const isRunning = state.pid !== 0;
  const value = { name, unit, ...state, pid: isRunning ? state.pid : null, unit_version: version };
  output.show(value, () =>
    renderFields(
      [
        ["service", `${name} (${unit})`],
        ["state", `${state.active}${state.result === "success" ? "" : ` (${state.result})`}`],
        ["since", isRunning ? state.since : undefined],
        ["pid", isRunning ? String(state.pid) : undefined],
        ["restarts", String(state.restarts)],
        ["at boot", state.enabled],
      ],
      output,
    ),
  );
}
