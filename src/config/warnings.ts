import { suggest } from "../domain/suggest.ts";
import { listSettings, type ValuesOf } from "../toolkit/settings/setting.ts";
import { backupWarnings } from "./backups.ts";
import { OTHER_VARIABLES, type Settings, VARIABLE_PREFIX, variableOf } from "./settings.ts";

type Env = Readonly<Record<string, string | undefined>>;
type Values = Pick<ValuesOf<Settings>, "backup" | "host" | "publicUrl">;

/** Describes settings that the service runs with but an operator should check, a sentence each. */
export function warningsOf(env: Env, settings: Settings, values: Values): string[] {
  return [
    ...unknownVariables(env, settings),
    ...backupWarnings(values),
    ...(isOpenToAll(values)
      ? [
          `Listening on every address (${values.host}) without public_url: URLs of results repeat whatever host a caller used, and nothing here encrypts. Put a TLS proxy in front and set public_url.`,
        ]
      : []),
  ];
}

function unknownVariables(env: Env, settings: Settings): string[] {
  const known = [...listSettings(settings).map(variableOf), ...OTHER_VARIABLES];
  return Object.keys(env)
    .filter((name) => name.startsWith(VARIABLE_PREFIX) && !known.includes(name))
    .sort()
    .map((name) => {
      const suggestion = suggest(name, known);
      return `${name} is set, but is no setting of svc.${suggestion === undefined ? "" : ` Did you mean ${suggestion}?`}`;
    });
}

function isOpenToAll({ host, publicUrl }: Values): boolean {
  return (host === "0.0.0.0" || host === "::") && publicUrl === undefined;
}
