import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { Failure, usage } from "./failure.ts";
import { type ChosenProfile, chosenProfile, isProfileFlagged } from "./profiles/chosen.ts";
import { DEFAULT_PROFILE, type Profile } from "./profiles/profile.ts";

export const DEFAULT_SERVER = "http://127.0.0.1:8787";

/** Flags that name a server, and who the caller is there. */
export interface ServerFlags {
  readonly server?: string;
  readonly profile?: string;
}

export interface ClientFlags extends ServerFlags {
  readonly key?: string;
}

export interface OperatorFlags extends ServerFlags {
  readonly token?: string;
}

/** The server that a command talks to, and the credential: an API key, or a management token. */
export interface ClientSettings {
  /** Without a trailing slash. Has a path when the service is served below one. */
  readonly server: string;
  readonly key: string;
}

/** One of the two credentials: where it may come from, and what to do without it. */
interface Credential {
  readonly what: string;
  readonly flag: "key" | "token";
  readonly variable: "SVC_API_KEY" | "SVC_MANAGEMENT_TOKEN";
  readonly field: keyof Pick<Profile, "key" | "token">;
  readonly code: string;
  readonly hint: string;
}

const API_KEY: Credential = {
  what: "API key",
  flag: "key",
  variable: "SVC_API_KEY",
  field: "key",
  code: "no_api_key",
  hint: "Log in with `svc login`, set SVC_API_KEY or give --key. On the server's machine `svc keys create --name NAME` makes one.",
};
const MANAGEMENT_TOKEN: Credential = {
  what: "management token",
  flag: "token",
  variable: "SVC_MANAGEMENT_TOKEN",
  field: "token",
  code: "no_management_token",
  hint: "Set SVC_MANAGEMENT_TOKEN or log in with `svc login --token-stdin`. On the server's machine `svc tokens create --name NAME` makes one.",
};

/**
 * The server, and the API key there. Prefers flags, then SVC_SERVER and SVC_API_KEY, then the profile, then the local default.
 *
 * @throws Failure (exit 4) without a key; (exit 12) for profiles that cannot be used
 */
export function readClientSettings(flags: ClientFlags, environment: Pick<Context, "env">): ClientSettings {
  return readSettings(API_KEY, flags, flags.key, environment);
}

/** The same with a management token, from --token, SVC_MANAGEMENT_TOKEN or the profile. */
export function readOperatorSettings(
  flags: OperatorFlags,
  environment: Pick<Context, "env">,
): ClientSettings {
  return readSettings(MANAGEMENT_TOKEN, flags, flags.token, environment);
}

/** The server alone, for what needs no credential. */
export function readServerSetting(flags: ServerFlags, environment: Pick<Context, "env">): string {
  return serverOf(flags, environment, profileOf(flags, environment));
}

function readSettings(
  credential: Credential,
  flags: ServerFlags,
  flag: string | undefined,
  environment: Pick<Context, "env">,
): ClientSettings {
  const profile = profileOf(flags, environment);
  const server = serverOf(flags, environment, profile);
  const variable = environment.env[credential.variable] || undefined;
  // A profile's credential is for its own server, and is never sent to another one.
  const stored = () => (profile()?.server === server ? profile()?.[credential.field] : undefined);
  const text = flag ?? (isProfileFlagged(flags) ? (stored() ?? variable) : (variable ?? stored()));
  const key = (text ?? "").trim();
  const { what, code, hint } = credential;
  if (key === "") {
    const chosen = profile();
    const more =
      chosen === undefined
        ? ""
        : ` Profile "${chosen.name}" has none${chosen.server === server ? "" : `: it is for ${chosen.server}`}.`;
    throw new Failure(EXIT.auth, code, `There is no ${what} to use at ${server}.${more}`, { hint });
  }
  if (!/^[\x21-\x7e]+$/.test(key) || /["'`]/.test(key)) {
    const message = `The ${what} holds characters that no ${credential.flag} has.`;
    const place =
      flag !== undefined ? "its flag or file" : text === variable ? credential.variable : "the profile";
    throw new Failure(EXIT.auth, `invalid_${code.replace("no_", "")}`, message, {
      hint: `Give it alone in ${place}, as it was shown: without quotes, blanks and \`Bearer\`.`,
    });
  }
  return { server, key };
}

type LazyProfile = () => ChosenProfile | undefined;

/** Reads the file of profiles at most once, and only when something is asked of it. */
function profileOf(flags: ServerFlags, environment: Pick<Context, "env">): LazyProfile {
  let read: { readonly profile: ChosenProfile | undefined } | undefined;
  const lazy = () => {
    read ??= { profile: chosenProfile(flags, environment) };
    return read.profile;
  };
  // A name that no profile has is a mistake, even if nothing from the profile is needed.
  if (isProfileFlagged(flags)) lazy();
  return lazy;
}

function serverOf(flags: ServerFlags, { env }: Pick<Context, "env">, profile: LazyProfile): string {
  if (flags.server !== undefined) return readServer(flags.server);
  const named = isProfileFlagged(flags) ? profile()?.server : undefined;
  return readServer(named ?? (env.SVC_SERVER || (profile()?.server ?? DEFAULT_SERVER)));
}

/** Reads `host:port` as http. Drops a trailing slash, and `/v1` or `/compat/v1`, which clients of the API need. */
export function readServer(text: string): string {
  const url = parseWebUrl(text);
  if (url !== null && url.username + url.password !== "")
    throw usage(`The address of a server has no user name or password; write it like ${DEFAULT_SERVER}.`);
  if (url === null || url.search !== "" || url.hash !== "")
    throw usage(`"${text.slice(0, 80)}" is not the address of a server; write it like ${DEFAULT_SERVER}.`);
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/(\/compat)?\/v1$/, "");
}

/** Reads an address as a person types it: `localhost:3000/hook` means http. */
export function parseWebUrl(text: string): URL | null {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  return url !== null && /^https?:$/.test(url.protocol) ? url : null;
}

/** `svc help environment`. */
export const ENVIRONMENT_HELP = `Variables of the commands that talk to a server:
  SVC_SERVER      address of the server (default ${DEFAULT_SERVER})
  SVC_API_KEY     API key
  SVC_MANAGEMENT_TOKEN  management token, for administration
  SVC_PREVIEW     how results are shown: auto, none, kitty, iterm, sixel or half
  SVC_PROFILE     profile to use (default "${DEFAULT_PROFILE}"; see \`svc login\`)
  HTTP_PROXY, HTTPS_PROXY, NO_PROXY  proxy on the way to other machines
  NODE_EXTRA_CA_CERTS  file (PEM) of certificates to trust besides this machine's
Variables of every command:
  SVC_OUTPUT      json, plain or auto (a table on a terminal, plain elsewhere)
  SVC_RELEASES_URL  where \`svc upgrade --check\` looks for newer versions
  NO_COLOR        set to anything: no colours
  SVC_NATIVE_DIR  folder for the executable's native libraries
`;
