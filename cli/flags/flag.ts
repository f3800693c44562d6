import { Option } from "commander";

/** A flag as help lists it: `--rpm <count>`. */
interface Flag {
  readonly flag: string;
}

/** The flags of a command as commander hands them on, by their names in camel case. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** `--rpm` */
export function nameOf({ flag }: Flag): string {
  return flag.replace(/ .*/, "");
}

/** What was given for a flag; several values for one that takes several. */
export function flagTexts({ flag }: Flag, flags: FlagValues): readonly string[] | undefined {
  const given = flags[new Option(flag).attributeName()];
  // Commander gives a text, or texts.
  return given === undefined ? undefined : ([given].flat() as string[]);
}

/** What was given for a flag that takes one value. */
export function flagText(flag: Flag, flags: FlagValues): string | undefined {
  return flagTexts(flag, flags)?.[0];
}
