import type { Command } from "commander";
import { type PreviewFlags, preparePreview, previewOption } from "../client/preview.ts";
import type { Saving } from "../client/saved.ts";
import { readTarget } from "../client/target.ts";
import type { Context } from "../context.ts";
import type { Output, OutputFlags } from "../format/output.ts";

/** Where results are saved, and what is done with them then. */
export interface SaveFlags extends PreviewFlags {
  readonly output?: string;
  readonly force?: boolean;
  readonly open?: boolean;
}

export function addSaveFlags(command: Command, where: string): Command {
  return command
    .option("-o, --output <path>", where)
    .option("-f, --force", "replace files that are there already")
    .option("--open", "open the first result with the desktop's program for it")
    .addOption(previewOption());
}

/**
 * What a command does with results.
 *
 * @param stem what the names of files begin with where -o names no file; absent: the task's id
 * @throws Failure (exit 2) when nothing can be written there
 */
export function readSaving(
  flags: SaveFlags & OutputFlags,
  context: Context,
  output: Output,
  stem?: string,
): Saving {
  const target = readTarget(flags, context, stem);
  return { target, preview: preparePreview(context, output, flags), isOpened: flags.open === true };
}

/** The same for a command that saves results only where it is asked to. */
export function savingFor(
  flags: SaveFlags & OutputFlags,
  context: Context,
  output: Output,
): Saving | undefined {
  const isAsked = flags.output !== undefined || flags.open === true;
  return isAsked ? readSaving(flags, context, output) : undefined;
}
