import { apiKey } from "../toolkit/settings/parsers.ts";
import { createSecret, type Secret } from "../toolkit/settings/secret.ts";
import type { Credential, Setting } from "../toolkit/settings/setting.ts";
import type { Source } from "../toolkit/settings/shown.ts";
import { type ConfigProblem, show } from "./problem.ts";
import { variableOf } from "./settings.ts";
import type { SettingsFile } from "./settings-file.ts";

/** What an operator gave. */
export interface Given {
  /** By the settings' option names; absent where no flag was given. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file?: SettingsFile | undefined;
  /** Records the choice for each setting and each key, in the order of reading. */
  readonly chosen?: Map<Setting<unknown> | Credential, Chosen<unknown>> | undefined;
}

export interface Chosen<T> {
  readonly value: T;
  readonly source: Source;
  /** The flag, the variable, or the file and the key in it; undefined for a default. */
  readonly where?: string;
}

/** Where the values of settings were given. Those that have their default are absent. */
export type Origins = ReadonlyMap<Setting<unknown>, string>;

/** Chooses a setting's value: flag over variable over settings file over default. Adds a problem for each unusable value. */
export function chooseValue<T>(
  setting: Setting<T>,
  { flags, env, file, chosen: all }: Given,
  problems: ConfigProblem[],
): Chosen<T> {
  let chosen: Chosen<T> | undefined;
  // Check every value, also one that another overrides.
  function consider(raw: unknown, where: string, source: Source): void {
    const parsed = setting.parse(raw);
    if (parsed.ok) chosen ??= { value: parsed.value, source, where };
    else {
      const got = setting.isSecret === true ? "" : `, got ${show(raw)}`;
      problems.push({ where, message: `must be ${parsed.expected}${got}` });
    }
  }
  const flag = flags[setting.option] ?? undefined;
  if (flag !== undefined) consider(flag, longFlag(setting), "flag");
  for (const name of [variableOf(setting), setting.customaryEnv]) {
    // An empty variable counts as unset: that is how container files leave one out.
    if (name !== undefined && env[name]) consider(env[name], name, "variable");
  }
  const inFile = file?.values.get(setting.key) ?? undefined;
  if (inFile !== undefined) consider(inFile, `${file?.path}: ${setting.key}`, "file");
  const result: Chosen<T> = chosen ?? { value: setting.fallback, source: "default" };
  all?.set(setting, result);
  return result;
}

/** Reads a key. A problem with the key does not quote it. */
export function readCredential(
  credential: Credential,
  { env, chosen }: Given,
  problems: ConfigProblem[],
): Secret | undefined {
  const { variable, parse = apiKey } = credential;
  const raw = env[variable];
  const isSet = raw !== undefined && raw.trim() !== "";
  chosen?.set(credential, {
    value: isSet,
    ...(isSet ? { source: "variable", where: variable } : { source: "default" }),
  });
  if (!isSet) return undefined;
  const parsed = parse(raw);
  if (parsed.ok) return createSecret(parsed.value);
  problems.push({ where: variable, message: `must be ${parsed.expected}` });
  return undefined;
}

function longFlag({ flag, key }: Setting<unknown>): string {
  return /--[a-z\d-]+/.exec(flag ?? "")?.[0] ?? key;
}
