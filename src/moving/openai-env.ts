import type { ProviderId } from "../domain/ids.ts";
import type { HeldProviderKey, Holdings, LeftBehind } from "./holdings.ts";
import { NOTHING, UnreadableSource } from "./holdings.ts";

/** A provider, and the variables that customarily hold the secrets of its default account. */
export interface CustomaryProvider {
  readonly id: ProviderId;
  /** The variables of each kind of account. */
  readonly kinds: readonly (readonly string[])[];
}

/** Where libraries of providers look for another address, behind the name of the provider. Older ones read the second. */
export const BASE_ENDINGS = ["_BASE_URL", "_API_BASE"];
/** Google's reads this one. */
const BEGINNINGS: Readonly<Record<string, string>> = { GEMINI: "GOOGLE_GEMINI" };

/** `$NAME` or `${NAME}`. */
const REFERENCE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

/** What references may make of a value. Each of some lines that stand twice for the one before would double it. */
const LONGEST_RESOLVED = 64 * 1024;

/** The variables of an environment. */
export interface Environment {
  readonly variables: ReadonlyMap<string, string>;
  /** Names of those whose values refer to variables that are not there. */
  readonly unresolved: ReadonlySet<string>;
}

/** The keys of providers that an environment has, by the variables they are customarily in. */
export function holdingsOfEnvironment(
  { variables, unresolved }: Environment,
  providers: readonly CustomaryProvider[],
  name: string,
): Holdings {
  const providerKeys: HeldProviderKey[] = [];
  const left: LeftBehind[] = [];
  for (const { id, kinds } of providers) {
    const kind = kinds.find((names) => names.length > 0 && names.every((each) => isSet(variables.get(each))));
    if (kind === undefined) continue;
    const secrets = kind.map((each) => variables.get(each)?.trim() ?? "");
    const from = `${kind.join(", ")} in ${name}`;
    if (kind.some((each) => unresolved.has(each))) {
      left.push({ kind: "provider_key", from, why: "it refers to a variable that is not there" });
      continue;
    }
    providerKeys.push({ provider: id, name: "default", secrets, from, baseUrl: baseOf(kind, variables) });
  }
  if (!isSet(variables.get("OPENAI_API_KEY")))
    left.push({ kind: "provider_key", from: `OPENAI_API_KEY in ${name}`, why: "it is not set there" });
  return { ...NOTHING, providerKeys, left };
}

/** The address that a key is used at; undefined for the provider's own. */
function baseOf([first = ""]: readonly string[], variables: Environment["variables"]): string | undefined {
  const beginning = first.replace(/(?:_API)?_(?:KEY|TOKEN|SECRET)$/, "");
  return [beginning, BEGINNINGS[beginning] ?? beginning]
    .flatMap((each) => BASE_ENDINGS.map((end) => variables.get(each + end)))
    .find(isSet);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== "";
}

/**
 * Reads a file of `NAME=value` lines, as `.env` files are. Lines that are none are passed over. `$NAME` and `${NAME}` stand for what an
 * earlier line has there, except in single quotes. A reference to anything else stays as it is.
 *
 * @throws UnreadableSource for references that make a value longer than any is
 */
export function readEnvFile(text: string): Environment {
  const found = new Map<string, string>();
  const unresolved = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, raw = ""] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) continue;
    const quoted = /^(["'])(.*?)\1/.exec(raw);
    const value = quoted?.[2] ?? raw.replace(/\s+#.*$/, "");
    unresolved.delete(name);
    let left = LONGEST_RESOLVED;
    const resolved = (whole: string, braced?: string, bare?: string) => {
      const of = braced ?? bare ?? "";
      if (!found.has(of) || unresolved.has(of)) unresolved.add(name);
      const known = found.get(of) ?? whole;
      left -= known.length;
      if (left < 0)
        throw new UnreadableSource(`References make ${name} longer than ${LONGEST_RESOLVED} characters.`);
      return known;
    };
    found.set(name, quoted?.[1] === "'" ? value : value.replace(REFERENCE, resolved));
  }
  return { variables: found, unresolved };
}
