import type { Command } from "commander";
import {
  type CredentialKind,
  displayOf,
  isForeignKey,
  parseCredential,
} from "../../src/domain/access/credential.ts";
import { isJsonObject } from "../../src/domain/json.ts";
import { identifyKey, identifyToken } from "../client/identity.ts";
import { previewOption } from "../client/preview.ts";
import { clientOptions } from "../client/remote.ts";
import { serverVersion, versionWarning } from "../client/server-version.ts";
import { type Invocation, onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { DEFAULT_SERVER, readServer } from "../environment.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import { withExamples, withExits } from "../help/manual.ts";
import { DEFAULT_PROFILE, isProfileName, type Profile } from "../profiles/profile.ts";
import { profilesPath, readProfiles, writeProfiles } from "../profiles/profile-file.ts";
import { askSecret } from "../secret-input.ts";

interface Flags {
  readonly server?: string;
  readonly profile?: string;
  readonly keyStdin?: boolean;
  readonly tokenStdin?: boolean;
  readonly model?: string;
  readonly preview?: string;
  readonly verbose?: boolean;
}

const WORDS: { readonly [Kind in CredentialKind]: string } = {
  api_key: "an API key",
  management_token: "a management token",
};

export function defineLogin(command: Command, context: Context): void {
  withCommonFlags(command)
    .option(
      "-s, --server <url>",
      `address of the server (default: the profile's, SVC_SERVER or ${DEFAULT_SERVER})`,
    )
    .option("--profile <name>", `name of the profile (SVC_PROFILE; default "${DEFAULT_PROFILE}")`)
    .option("--key-stdin", "read the API key from standard input instead of asking for it")
    .option("--token-stdin", "read a management token from standard input instead")
    .option("-m, --model <model>", "model that commands take where none is given")
    .addOption(previewOption("how saved results are shown on the terminal where nothing else says it"))
    .option("-v, --verbose", "print requests and answers on stderr");
  withExits(command, "auth", "overloaded", "unreachable", "config", "interrupted");
  withExamples(
    command,
    ["svc login", "asks for a key or a token, and shows nothing of it"],
    ["svc login --server https://svc.example --key-stdin", "takes the key from a pipe"],
    "svc login --server https://svc.example --profile prod --token-stdin",
  );
  onRun<Flags>(command, context, login);
}

async function login(invocation: Invocation<Flags>): Promise<void> {
  const { context, output, options } = invocation;
  const name = profileName(options, context);
  // A place for the secret must exist before the secret is requested.
  profilesPath(context);
  const profiles = new Map(readProfiles(context));
  const before = profiles.get(name);
  const server = readServer(options.server ?? (context.env.SVC_SERVER || (before?.server ?? DEFAULT_SERVER)));
  warnOfPlainText(server, invocation);
  const { secret, kind } = await readSecret(invocation, server);
  const client = clientOptions(options, context, output);
  const version = await serverVersion(server, client);
  const warning = versionWarning(server, version);
  if (warning !== undefined) output.warn(warning);

  const whose = await describeOwner(server, secret, kind, client);
  // Of another server, nothing is kept.
  const kept: Partial<Profile> = before?.server === server ? before : {};
  const profile: Profile = {
    ...kept,
    server,
    ...(kind === "api_key" ? { key: secret } : { token: secret }),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.preview === undefined ? {} : { preview: options.preview }),
  };
  const path = writeProfiles(context, profiles.set(name, profile));
  output.done(`Logged in to ${server} with ${whose}. Kept as profile "${name}" in ${path}.`);
  const value = { profile: name, server, kind, display: displayOf(secret), version: version ?? null, path };
  if (output.mode === "json") output.show(value, () => "");
}

export function profileName({ profile }: Pick<Flags, "profile">, { env }: Pick<Context, "env">): string {
  const name = profile ?? (env.SVC_PROFILE || DEFAULT_PROFILE);
  if (isProfileName(name)) return name;
  throw usage(`"${name.slice(0, 80)}" is no name for a profile; use letters, digits, dots, _ and -.`);
}

async function readSecret({ context, options }: Invocation<Flags>, server: string) {
  const { keyStdin = false, tokenStdin = false } = options;
  if (keyStdin && tokenStdin)
    throw usage("Standard input holds one secret: give --key-stdin or --token-stdin.");
  const isPiped = keyStdin || tokenStdin;
  const otherwise = "Give --key-stdin or --token-stdin, and the secret on standard input.";
  if (!isPiped && options.noInput === true) throw usage("Nobody can be asked here.", otherwise);
  const question = `API key or management token for ${server} (not shown):`;
  const secret = isPiped
    ? (await context.stdin.readText()).trim()
    : await askSecret(context, question, otherwise);
  // The server knows whether it is a key that was brought there from another gateway.
  const kind = parseCredential(secret)?.kind ?? (isForeignKey(secret) ? "api_key" : undefined);
  if (kind === undefined) {
    const message = secret === "" ? "There is no secret." : "This is no key or token of svc.";
    throw new Failure(EXIT.auth, "invalid_api_key", message, {
      hint: "API keys begin with sk-svc- and management tokens with mt-svc-; check that it was copied whole.",
    });
  }
  const wanted = tokenStdin ? "management_token" : keyStdin ? "api_key" : kind;
  if (kind === wanted) return { secret, kind };
  const flag = kind === "api_key" ? "--key-stdin" : "--token-stdin";
  throw usage(`This is not ${WORDS[wanted]}, but ${WORDS[kind]}; it goes with ${flag}.`);
}

/** Asks the server whose the secret is, and so whether it is valid there. */
async function describeOwner(
  server: string,
  secret: string,
  kind: CredentialKind,
  client: Parameters<typeof identifyKey>[2],
): Promise<string> {
  if (kind === "management_token") {
    const { name, display } = await identifyToken(server, secret, client);
    return `management token ${name} (${display})`;
  }
  const { key, account } = await identifyKey(server, secret, client);
  const nameOf = (form: unknown) => (isJsonObject(form) ? String(form.name) : "?");
  return `key ${nameOf(key)} (${displayOf(secret)}) of account ${nameOf(account)}`;
}

/** On the way to another machine, anybody between can read what is not encrypted. */
function warnOfPlainText(server: string, { output }: Invocation<Flags>): void {
  const { protocol, hostname } = new URL(server);
  if (protocol !== "http:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return;
  output.warn(`${server} is not encrypted: whoever is on the way can read the key. Use https where you can.`);
}
