import { isJsonObject } from "../../src/domain/json.ts";
import { suggest } from "../../src/domain/suggest.ts";
import { type Position, readYaml, type Yaml, YamlError } from "../../src/toolkit/yaml.ts";

/** A server, and what this user is there. */
export interface Profile {
  /** As `readServer` returns it. */
  readonly server: string;
  readonly key?: string | undefined;
  /** A management token. */
  readonly token?: string | undefined;
  /** The model that commands take unless told otherwise. */
  readonly model?: string | undefined;
  /** How pictures are shown in the terminal unless told otherwise. */
  readonly preview?: string | undefined;
}

/** The profile that is used unless another is named. */
export const DEFAULT_PROFILE = "default";

const FIELDS = ["server", "key", "token", "model", "preview"] as const satisfies (keyof Profile)[];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function isProfileName(text: string): boolean {
  return NAME.test(text);
}

type Parsed =
  | { readonly ok: true; readonly profiles: ReadonlyMap<string, Profile> }
  /** The problem as a clause, which never repeats a value of the file: it may be a secret. */
  | { readonly ok: false; readonly problem: string; readonly position: Position };

/** Reads `{"profiles": {"name": {"server": "…", …}}}`. */
export function parseProfiles(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // JSON is YAML too, whose reader knows where the fault is.
    return { ok: false, problem: "this is not JSON", position: faultIn(text) };
  }
  const problem = problemOf(value);
  if (problem !== undefined)
    return { ok: false, problem: problem.what, position: placeIn(text, problem.path) };
  // The check has made sure of it.
  const { profiles } = value as { profiles: Record<string, Profile> };
  return { ok: true, profiles: new Map(Object.entries(profiles)) };
}

export function writtenProfiles(profiles: ReadonlyMap<string, Profile>): string {
  return `${JSON.stringify({ profiles: Object.fromEntries(profiles) }, null, 2)}\n`;
}

type Problem = { readonly what: string; readonly path: readonly string[] };

function problemOf(value: unknown): Problem | undefined {
  const profiles = isJsonObject(value) ? value.profiles : undefined;
  if (!isJsonObject(profiles)) return { what: 'there must be an object "profiles"', path: [] };
  for (const [name, profile] of Object.entries(profiles)) {
    const path = ["profiles", name];
    if (!isProfileName(name)) return { what: "a profile's name has letters, digits, dots, _ and -", path };
    if (!isJsonObject(profile)) return { what: "a profile must be an object", path };
    for (const [field, content] of Object.entries(profile)) {
      const here = [...path, field];
      if (!FIELDS.some((known) => known === field)) {
        const near = suggest(field, FIELDS);
        const advice = near === undefined ? `a profile has ${FIELDS.join(", ")}` : `perhaps ${near} is meant`;
        return { what: `this field is not known; ${advice}`, path: here };
      }
      if (typeof content !== "string" || content === "") return { what: `${field} must be text`, path: here };
    }
    if (profile.server === undefined) return { what: 'a profile must have a "server"', path };
  }
  return undefined;
}

function faultIn(text: string): Position {
  try {
    readYaml(text);
  } catch (error) {
    if (error instanceof YamlError) return error.position;
    throw error;
  }
  return { line: 1, column: 1 };
}

function placeIn(text: string, path: readonly string[]): Position {
  let yaml: Yaml;
  try {
    yaml = readYaml(text);
  } catch (error) {
    if (error instanceof YamlError) return error.position;
    throw error;
  }
  return yaml.positionOf(path, "key");
}
