import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../domain/json.ts";
import { suggest } from "../domain/suggest.ts";
import type { Path } from "../toolkit/schema-problems.ts";
import { listSettings } from "../toolkit/settings/setting.ts";
import { reasonOf } from "../toolkit/system-error.ts";
import { type Part, type Position, readYaml, type Yaml, YamlError } from "../toolkit/yaml.ts";
import { misplacedBesideAccounts } from "./accounts/entry.ts";
import { type AccountProvider, accountProvider, accountsKey, hasAccounts } from "./accounts/provider.ts";
import { type ConfigProblem, show } from "./problem.ts";
import type { Settings } from "./settings.ts";

/** The part of a settings file that holds price rules by model id. It has no flag and no variable. */
export const PRICING = "pricing";

/** The part that holds checks of what callers ask for, which has neither. */
export const MODERATION = "moderation";

/** The part that says who is told of what goes wrong. */
export const ALERTS = "alerts";

export interface SettingsFile {
  readonly path: string;
  readonly values: Map<string, unknown>;
  /** What it has for providers that the program does not have, by their id. */
  readonly others: ReadonlyMap<string, unknown>;
  /** `svc.yaml:3:7`: where the value at a path is written, or the key that leads to it. */
  readonly place: (path: Path, part?: Part) => string;
  /** The same for a setting's key, with dots between the levels, or in one name. */
  readonly placeOfKey: (key: string) => string;
  /** Adds line and column to a problem that says only which file and key it is about. */
  readonly placed: (problem: ConfigProblem) => ConfigProblem;
}

/** Where a provider that is not built in stands. */
const OTHER_PROVIDER = /^providers\.([a-z][a-z0-9-]*)$/;

/** Reads the file that a flag or a variable names. If it is missing, that is a problem. */
export function readNamedFile(
  path: string,
  settings: Settings,
  problems: ConfigProblem[],
): SettingsFile | undefined {
  if (existsSync(path)) return readSettingsFile(path, settings, problems);
  problems.push({ where: path, message: "there is no such settings file" });
  return undefined;
}

/** Reads svc.yaml, or svc.yml, in the data folder. It cannot say where the data folder is. */
export function readOwnFile(
  dataDir: string,
  settings: Settings,
  problems: ConfigProblem[],
): SettingsFile | undefined {
  const [path, second] = ["svc.yaml", "svc.yml"]
    .map((name) => join(dataDir, name))
    .filter((each) => existsSync(each));
  if (path === undefined && isShut(dataDir)) problems.push({ where: dataDir, message: SHUT });
  if (path === undefined) return undefined;
  if (second !== undefined)
    problems.push({ where: second, message: `there is a ${path} too; remove one of them` });
  const file = readSettingsFile(path, settings, problems);
  if (file.values.has(settings.dataDir.key)) {
    problems.push({
      where: `${path}: ${settings.dataDir.key}`,
      message:
        "cannot be set in the data folder's own file; use a file elsewhere with --config, or --data-dir",
    });
  }
  return file;
}

const SHUT =
  "this user may not look into the folder; run the command as the user that it belongs to, such as with sudo -u";

/** Whether the folder is there, but closed to this user. Then it seems empty, and what is in it must not be overlooked. */
function isShut(folder: string): boolean {
  try {
    // The last part has the system enter the folder.
    statSync(`${folder}/.`, { throwIfNoEntry: false });
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EACCES";
  }
}

function readSettingsFile(path: string, settings: Settings, problems: ConfigProblem[]): SettingsFile {
  const known = knownKeys(settings);
  const values = new Map<string, unknown>();
  const others = new Map<string, unknown>();
  const yaml = parseYaml(path, problems);
  const visit = (prefix: string, value: unknown): void => {
    const isSection = prefix === "" || known.some((key) => key.startsWith(`${prefix}.`));
    if (isSection && isJsonObject(value)) {
      for (const [name, inner] of Object.entries(value))
        visit(prefix === "" ? name : `${prefix}.${name}`, inner);
    } else if (known.includes(prefix)) {
      values.set(prefix, value);
    } else if (!isSection) {
      const [, id] = OTHER_PROVIDER.exec(prefix) ?? [];
      if (id === undefined)
        problems.push(unknownSetting(path, prefix, { known, provider: providerOf(prefix, settings) }));
      else others.set(id, value);
    } else if (value !== null && value !== undefined) {
      problems.push({
        where: prefix === "" ? path : `${path}: ${prefix}`,
        message: noSection(prefix, value, known),
      });
    }
  };
  visit("", yaml?.value);
  const place: SettingsFile["place"] = (steps, part) => placeOf(path, yaml?.positionOf(steps, part));
  const placeOfKey = (key: string) => place(stepsOf(key, yaml?.value), "key");
  const placed = (problem: ConfigProblem) => {
    const key = problem.where.startsWith(`${path}: `) ? problem.where.slice(path.length + 2) : "";
    return key === "" ? problem : { ...problem, where: `${placeOfKey(key)}: ${key}` };
  };
  return { path, values, others, place, placeOfKey, placed };
}

/** The steps that `providers.own.accounts[0].name` stands for in a value, whose names may have dots themselves. */
function stepsOf(key: string, value: unknown): Path {
  const steps: (string | number)[] = [];
  let rest = key;
  let at = value;
  while (rest !== "") {
    const [found, index] = /^\[(\d+)\]/.exec(rest) ?? [];
    const names = isJsonObject(at) ? Object.keys(at) : [];
    const name = names
      .filter((each) => rest.startsWith(each) && /^([.[]|$)/.test(rest.slice(each.length)))
      .sort((a, b) => b.length - a.length)[0];
    const step = index === undefined ? name : Number(index);
    if (step === undefined) break;
    steps.push(step);
    at = (at as Readonly<Record<string | number, unknown>> | null | undefined)?.[step];
    rest = rest.slice((found ?? name ?? "").length).replace(/^\./, "");
  }
  return steps;
}

function knownKeys(settings: Settings): string[] {
  const accounts = Object.entries(settings.providers)
    .filter(([id, table]) => hasAccounts(accountProvider({ id }, table)))
    .map(([id]) => accountsKey(id));
  return [...listSettings(settings).map(({ key }) => key), PRICING, MODERATION, ALERTS, ...accounts];
}

/** @param provider whose settings the key stands among, if it does */
export function unknownSetting(
  path: string,
  key: string,
  { known, provider }: { known: readonly string[]; provider?: AccountProvider | undefined },
): ConfigProblem {
  const where = `${path}: ${key}`;
  const name = provider === undefined ? "" : key.slice(`providers.${provider.id}.`.length);
  const misplaced = provider && misplacedBesideAccounts(provider, name);
  if (misplaced !== undefined) return { where, message: misplaced };
  return { where, message: "is not a setting", suggestion: suggest(key, known) };
}

/** The provider among whose settings a key stands. */
function providerOf(key: string, { providers }: Settings): AccountProvider | undefined {
  const [, id = ""] = /^providers\.([^.]+)\../.exec(key) ?? [];
  const table = Object.hasOwn(providers, id) ? providers[id] : undefined;
  return table && accountProvider({ id }, table);
}

/** What is wrong with a value where settings are expected. Shows none of a provider, which may be its key. */
function noSection(section: string, value: unknown, known: readonly string[]): string {
  const below = section === "" ? "" : `${section}.`;
  const inner = known
    .filter((key) => key.startsWith(below))
    .map((key) => key.slice(below.length).split(".")[0]);
  const names = section === "" || section === "providers" ? [] : [...new Set(inner)];
  const such = names.length === 0 ? "" : `, of ${names.join(", ")}`;
  const got = section.startsWith("providers.") ? "" : `, got ${show(value)}`;
  return `must hold settings by name${such}${got}`;
}

/**
 * Lets providers of the operator's own have settings, which are checked once their tables are known. Refuses those of all others; of one
 * that is not here, such as one whose file was removed, only where a server starts.
 */
export function claimProviders(
  { path, values, others }: SettingsFile,
  { own, settings, isServing }: { own: readonly string[]; settings: Settings; isServing: boolean },
  problems: ConfigProblem[],
): void {
  for (const [id, value] of others) {
    const key = `providers.${id}`;
    const known = knownKeys(settings);
    const places = known.flatMap((each) => /^providers\.[^.]+/.exec(each) ?? []);
    if (!own.includes(id)) {
      const unknown = unknownSetting(path, key, { known: [...places, ...known] });
      const isGone = unknown.suggestion === undefined && !Object.hasOwn(settings.providers, id);
      if (!isGone) problems.push(unknown);
      else if (isServing)
        problems.push({
          ...unknown,
          message: "is of a provider that is not here; remove it, or put the provider's file back",
        });
    } else if (!isJsonObject(value))
      problems.push({ where: `${path}: ${key}`, message: noSection(key, value, []) });
    else for (const [name, inner] of Object.entries(value)) values.set(`${key}.${name}`, inner);
  }
}

function placeOf(path: string, position: Position | undefined): string {
  return position === undefined ? path : `${path}:${position.line}:${position.column}`;
}

function parseYaml(path: string, problems: ConfigProblem[]): Yaml | undefined {
  try {
    return readYaml(readFileSync(path, "utf8"));
  } catch (error) {
    const problem =
      error instanceof YamlError
        ? { where: placeOf(path, error.position), message: reasonOf(error) }
        : { where: path, message: `cannot be read: ${reasonOf(error)}` };
    problems.push(problem);
    return undefined;
  }
}
