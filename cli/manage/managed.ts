import type { Command } from "commander";
import { type AdminCalls, createAdminCalls } from "../client/admin.ts";
import { clientOptions } from "../client/remote.ts";
import { addCommand, type Invocation, onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { readOperatorSettings } from "../environment.ts";
import type { Output } from "../format/output.ts";
import { openFolder } from "../local.ts";
import { choosePlace, type PlaceFlags, withPlaceFlags } from "./place.ts";
import type { Place } from "./port.ts";

/** What the action of an administration command receives. */
export interface ManagedInvocation<Options> extends Invocation<Options & PlaceFlags> {
  /** Opens the data folder or the server until the action ends. A server may be running on the folder. */
  open(): Promise<Place>;
}

/** A command on a data folder, or on a server with a management token. */
export function addManagedCommand(parent: Command, usage: string, description: string): Command {
  return withManagedFlags(addCommand(parent, usage, description));
}

/** The flags and exit codes of an administration command. */
export const withManagedFlags = (command: Command): Command => withPlaceFlags(withCommonFlags(command));

/** Sets the action of an administration command. */
export function onManagedRun<Options = unknown>(
  command: Command,
  context: Context,
  action: (invocation: ManagedInvocation<Options>) => Promise<void>,
): void {
  onRun<Options & PlaceFlags>(command, context, async (invocation) => {
    const { options, output } = invocation;
    let place: Place | undefined;
    const open = async () => {
      place = await openPlace(options, context, output);
      return place;
    };
    try {
      await action({ ...invocation, open });
    } finally {
      await place?.stop();
    }
  });
}

async function openPlace(flags: PlaceFlags, context: Context, output: Output): Promise<Place> {
  if (choosePlace(flags, context) === "folder") return openFolder(flags, context);
  const calls = connectAsOperator(flags, context, output);
  // A person who reads a list should know whose it is; a script knows.
  if (context.stderr.isTerminal) output.say(`(on ${calls.server})`);
  // Loaded late: few commands need it.
  const { openServer } = await import("./server.ts");
  return openServer(calls);
}

/** The management API of the server that flags, variables or a profile name. */
export function connectAsOperator(flags: PlaceFlags, context: Context, output: Output): AdminCalls {
  return createAdminCalls(readOperatorSettings(flags, context), clientOptions(flags, context, output));
}
