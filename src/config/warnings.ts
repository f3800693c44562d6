import { suggest } from "../domain/suggest.ts";
import { listSettings, type ValuesOf } from "../toolkit/settings/setting.ts";
import { backupWarnings } from "./backups.ts";
import { type Settings, VARIABLE_PREFIX, variableOf } from "./settings.ts";

type Env = Readonly<Record<string, string | undefined>>;
type Values = Pick<ValuesOf<Settings>, "backup" | "host" | "publicUrl">;

/** Variables of the client commands, the build and the native libraries, which are no settings of the server. */
export const OTHER_VARIABLES = [
  "SVC_CONFIG",
  "SVC_BIN",
  "SVC_SERVER",
  "SVC_API_KEY",
  "SVC_MANAGEMENT_TOKEN",
  "SVC_PROFILE",
  "SVC_RELEASES_URL",
  "SVC_NATIVE_DIR",
  "SVC_PART_BYTES",
  "SVC_OUTPUT",
  "SVC_PREVIEW",
  "SVC_SECRET_KEY",
  "SVC_SECRET_KEY_PREVIOUS",
] as const;

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
