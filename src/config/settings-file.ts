import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../domain/json.ts";
import { suggest } from "../domain/suggest.ts";
import { listSettings } from "../toolkit/settings/setting.ts";
import { reasonOf } from "../toolkit/system-error.ts";
import { readYaml, YamlError } from "../toolkit/yaml.ts";
import { type ConfigProblem, show } from "./problem.ts";
import type { Settings } from "./settings.ts";

/** The part of a settings file that holds price rules by model id. It has no flag and no variable. */
export const PRICING = "pricing";

export interface SettingsFile {
  readonly path: string;
  readonly values: ReadonlyMap<string, unknown>;
}

/** Reads the file that a flag or variable names. Its absence is a problem. */
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

function readSettingsFile(path: string, settings: Settings, problems: ConfigProblem[]): SettingsFile {
  const known = [...listSettings(settings).map(({ key }) => key), PRICING];
  const values = new Map<string, unknown>();
  const content = parseYaml(path, problems);
  const visit = (prefix: string, value: unknown): void => {
    const isSection = prefix === "" || known.some((key) => key.startsWith(`${prefix}.`));
    if (isSection && isJsonObject(value)) {
      for (const [name, inner] of Object.entries(value))
        visit(prefix === "" ? name : `${prefix}.${name}`, inner);
    } else if (known.includes(prefix)) {
      values.set(prefix, value);
    } else if (!isSection) {
      problems.push({
        where: `${path}: ${prefix}`,
        message: "is not a setting",
        suggestion: suggest(prefix, known),
      });
    } else if (value !== null && value !== undefined) {
      problems.push({
        where: prefix === "" ? path : `${path}: ${prefix}`,
        message: `must hold settings by name, got ${show(value)}`,
      });
    }
  };
  visit("", content);
  return { path, values };
}

function parseYaml(path: string, problems: ConfigProblem[]): unknown {
  try {
    return readYaml(readFileSync(path, "utf8")).value;
  } catch (error) {
    const problem =
      error instanceof YamlError
        ? { where: `${path}:${error.position.line}:${error.position.column}`, message: reasonOf(error) }
        : { where: path, message: `cannot be read: ${reasonOf(error)}` };
    problems.push(problem);
    return undefined;
  }
}
