import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { suggest } from "../../domain/suggest.ts";
import { apiKey } from "../../toolkit/settings/parsers.ts";
import { createSecret, type Secret } from "../../toolkit/settings/secret.ts";
import { isCredential } from "../../toolkit/settings/setting.ts";
import { reasonOf } from "../../toolkit/system-error.ts";
import type { ConfigProblem } from "../problem.ts";
import { VARIABLE_PREFIX } from "../settings.ts";
import type { AccountEntry, Places } from "./entry.ts";
import type { AccountProvider } from "./provider.ts";

export type Secrets = Readonly<Record<string, Secret>>;

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** That of the settings file, which relative paths start from. */
  readonly folder: string;
  readonly problems: ConfigProblem[];
  readonly warnings: string[];
  /** Told of what is missing on this machine: a variable, a file. Only a server needs what is in them. */
  readonly missing: ConfigProblem[];
}

/** Most of a file that is read: a private key has less. */
const MOST_BYTES = 64 * 1024;
/** Names that are certainly no keys, and can be shown. */
const SHOWN_VARIABLE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/;

/** The secrets that an account of the settings file names; undefined if it names none, or if any of them is missing. */
export function namedSecrets(
  entry: AccountEntry,
  provider: AccountProvider,
  sources: SecretSources,
): Secrets | undefined {
  const { keyEnv, keyFile, where } = entry;
  const [field, given] = keyEnv === undefined ? ["key_file", keyFile] : ["key_env", keyEnv];
  if (given === undefined) return undefined;
  const byName = placesByName(given, `${where}.${field}`, provider, sources.problems);
  if (byName === undefined) return undefined;
  const found = Object.entries(byName).map(([name, place]) => {
    const at = typeof given === "string" ? `${where}.${field}` : `${where}.${field}.${name}`;
    const text = keyEnv === undefined ? fromFile(place, at, sources) : fromVariable(place, at, sources);
    const secret = text === undefined ? undefined : parsed(provider, name, text, at, sources);
    return [name, secret] as const;
  });
  const secrets = found.flatMap(([name, secret]) => (secret === undefined ? [] : [[name, secret] as const]));
  return secrets.length === found.length ? Object.fromEntries(secrets) : undefined;
}

/** Where each secret of one kind of account is. */
function placesByName(
  given: Places,
  where: string,
  { id, kinds }: AccountProvider,
  problems: ConfigProblem[],
): Readonly<Record<string, string>> | undefined {
  const keyed = kinds.filter((kind) => kind.length > 0);
  if (typeof given === "string") {
    const [single] = keyed.find((kind) => kind.length === 1) ?? [];
    if (single !== undefined) return { [single]: given };
    const names = keyed[0] ?? [];
    const message =
      names.length === 0
        ? `${id} takes no key; leave it out`
        : `${id} has ${names.length} secrets: name a place for each, {${names.map((each) => `${each}: …`).join(", ")}}`;
    problems.push({ where, message });
    return undefined;
  }
  const names = Object.keys(given);
  if (keyed.some((kind) => kind.length === names.length && kind.every((name) => names.includes(name))))
    return given;
  const known = [...new Set(keyed.flat())];
  const other = names.find((name) => !known.includes(name));
  const suggestion = other === undefined ? undefined : suggest(other, known);
  problems.push({
    where,
    message: `must name ${keyed.map((kind) => kind.join(" and ")).join(", or ") || "nothing"}: these are the secrets of ${id}`,
    suggestion,
  });
  return undefined;
}

function fromVariable(name: string, where: string, { env, problems, missing }: SecretSources) {
  const named = SHOWN_VARIABLE.test(name) ? `${name}, which` : "a variable that";
  if (name.toUpperCase().startsWith(VARIABLE_PREFIX)) {
    problems.push({
      where,
      message: `must be another variable: those that begin with ${VARIABLE_PREFIX} are svc's own`,
    });
    return undefined;
  }
  const value = env[name];
  if (value !== undefined && value.trim() !== "") return value;
  missing.push({
    where,
    message: `names ${named} is not set; set it to the key, or name the one that holds it`,
  });
  return undefined;
}

function fromFile(given: string, where: string, { folder, warnings, missing }: SecretSources) {
  const path = resolve(folder, given);
  try {
    const stats = statSync(path);
    if (stats.isFile() && (stats.mode & 0o077) !== 0)
      warnings.push(`${path} holds a key, and other users of this machine can read it: chmod 600 ${path}`);
    if (stats.size <= MOST_BYTES) return readFileSync(path, "utf8");
    missing.push({ where, message: `names ${path}, which is too large to be a key` });
  } catch (error) {
    missing.push({ where, message: `names ${path}, which cannot be read: ${reasonOf(error)}` });
  }
  return undefined;
}

function parsed(
  { table }: AccountProvider,
  name: string,
  text: string,
  where: string,
  { missing }: SecretSources,
): Secret | undefined {
  const entry = table[name];
  const parse = (entry !== undefined && isCredential(entry) ? entry.parse : undefined) ?? apiKey;
  const result = parse(text.trim());
  if (result.ok) return createSecret(result.value);
  missing.push({ where, message: `must lead to ${result.expected}` });
  return undefined;
}
