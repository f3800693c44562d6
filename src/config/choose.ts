import { apiKey } from "../toolkit/settings/parsers.ts";
import { createSecret, type Secret } from "../toolkit/settings/secret.ts";
import type { Credential, Setting } from "../toolkit/settings/setting.ts";
import { type ConfigProblem, show } from "./problem.ts";
import { variableOf } from "./settings.ts";
import type { SettingsFile } from "./settings-file.ts";

/** What an operator gave. */
export interface Given {
  /** By the settings' option names; absent where no flag was given. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file?: SettingsFile | undefined;
}

export interface Chosen<T> {
  readonly value: T;
  readonly isFromFile: boolean;
  /** The flag, the variable, or the file and the key in it; undefined for a default. */
  readonly where?: string;
}

/** Where the values of settings were given. Those that have their default are absent. */
export type Origins = ReadonlyMap<Setting<unknown>, string>;

/** Chooses a setting's value: flag over variable over settings file over default. Adds a problem for each unusable value. */
export function chooseValue<T>(
  setting: Setting<T>,
  { flags, env, file }: Given,
  problems: ConfigProblem[],
): Chosen<T> {
  let chosen: Chosen<T> | undefined;
  // Check every value, also one that another overrides.
  function consider(raw: unknown, where: string, isFromFile: boolean): void {
    const parsed = setting.parse(raw);
    if (parsed.ok) chosen ??= { value: parsed.value, isFromFile, where };
    else {
      const got = setting.isSecret === true ? "" : `, got ${show(raw)}`;
      problems.push({ where, message: `must be ${parsed.expected}${got}` });
    }
  }
  const flag = flags[setting.option] ?? undefined;
  if (flag !== undefined) consider(flag, longFlag(setting), false);
  for (const name of [variableOf(setting), setting.customaryEnv]) {
    // An empty variable counts as unset: that is how container files leave one out.
    if (name !== undefined && env[name]) consider(env[name], name, false);
  }
  const inFile = file?.values.get(setting.key) ?? undefined;
  if (inFile !== undefined) consider(inFile, `${file?.path}: ${setting.key}`, true);
  return chosen ?? { value: setting.fallback, isFromFile: false };
}

/** Reads a key. A problem with the key does not quote it. */
export function readCredential(
  { variable, parse = apiKey }: Credential,
  { env }: Given,
  problems: ConfigProblem[],
): Secret | undefined {
  const raw = env[variable];
  if (raw === undefined || raw.trim() === "") return undefined;
  const parsed = parse(raw);
  if (parsed.ok) return createSecret(parsed.value);
  problems.push({ where: variable, message: `must be ${parsed.expected}` });
  return undefined;
}

function longFlag({ flag, key }: Setting<unknown>): string {
  return /--[a-z\d-]+/.exec(flag ?? "")?.[0] ?? key;
}
