import { type Command, Option } from "commander";
import { serviceSettings } from "../../src/app/settings.ts";
import { variableOf } from "../../src/config/settings.ts";

/** The flags of the server's settings. */
export function settingOptions(): Option[] {
  return serviceSettings().flatMap((setting) => {
    const { flag, help, fallback, fallbackText } = setting;
    if (flag === undefined) return [];
    const standard = fallbackText ?? (typeof fallback === "boolean" ? undefined : fallback);
    const preset = standard === undefined ? "" : `; default ${String(standard)}`;
    return [new Option(flag, `${help} (${variableOf(setting)}${preset})`)];
  });
}

/** Every flag of a server's settings that the command itself does not define. Its help does not repeat them. */
export function withServeFlags(command: Command): Command {
  const known = new Set(command.options.map(({ long }) => long));
  for (const option of settingOptions()) if (!known.has(option.long)) command.addOption(option.hideHelp());
  return command;
}

/** The flags on the command line, without defaults. */
export function givenFlags(command: Command) {
  const flags = Object.entries(command.opts()).filter(
    ([name]) => command.getOptionValueSource(name) === "cli",
  );
  return Object.fromEntries(flags);
}
