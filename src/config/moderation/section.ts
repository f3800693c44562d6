import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { suggest } from "../../domain/suggest.ts";
import { type Path, pathText } from "../../toolkit/schema-problems.ts";
import type { Parser } from "../../toolkit/settings/parsers.ts";
import { type ConfigProblem, show } from "../problem.ts";
import type { SettingsFile } from "../settings-file.ts";

/** A mapping of the settings file whose problems are told with line and column. */
export interface Section {
  readonly path: Path;
  readonly values: JsonObject;
  readonly names: readonly string[];
  /** Where a member stands: file, line, column and path. */
  where(...steps: Path): string;
  refuse(message: string, steps?: Path, suggestion?: string): void;
  /** A member that a parser takes; undefined where it is absent or wrong, which is told. One that may be a secret is not shown. */
  read<T>(name: string, parse: Parser<T>, mayBeSecret?: boolean): T | undefined;
  /** The texts of a list, each with its place in it; empty where it is absent. */
  texts(name: string, what: string): readonly { readonly text: string; readonly index: number }[];
  /** A mapping in it, which may have any names unless they are given. */
  section(name: string, known?: readonly string[]): Section | undefined;
}

export interface SectionSources {
  readonly file: Pick<SettingsFile, "place">;
  readonly problems: ConfigProblem[];
}

/** Opens a mapping. Names that are not known are told. @returns undefined, and tells it, for what is no mapping */
export function openSection(
  raw: unknown,
  path: Path,
  sources: SectionSources,
  known?: readonly string[],
): Section | undefined {
  const where = (...steps: Path) => {
    const all = [...path, ...steps];
    return `${sources.file.place(all, steps.length === 0 ? "key" : "value")}: ${pathText(all)}`;
  };
  const refuse = (message: string, steps: Path = [], suggestion?: string) => {
    sources.problems.push({ where: where(...steps), message, suggestion });
  };
  if (!isJsonObject(raw)) {
    refuse(`must hold ${known === undefined ? "values by name" : known.join(", ")}, got ${show(raw)}`);
    return undefined;
  }
  const names = Object.keys(raw).filter((name) => raw[name] !== null);
  for (const name of names)
    if (known?.includes(name) === false) refuse("is not a setting", [name], suggest(name, known));
  return {
    ...{ path, values: raw, names, where, refuse },
    read(name, parse, mayBeSecret = false) {
      const given = raw[name];
      if (given === undefined || given === null) return undefined;
      const parsed = parse(given);
      if (parsed.ok) return parsed.value;
      refuse(`must be ${parsed.expected}${mayBeSecret ? "" : `, got ${show(given)}`}`, [name]);
      return undefined;
    },
    texts(name, what) {
      const given = raw[name] ?? [];
      if (!Array.isArray(given)) {
        refuse(`must be a list of ${what}, got ${show(given)}`, [name]);
        return [];
      }
      return given.flatMap((text: unknown, index) => {
        if (typeof text === "string" && text.trim() !== "") return [{ text, index }];
        const quoted = typeof text === "object" ? "" : "; put it in quotes";
        refuse(`must be a text, got ${show(text)}${quoted}`, [name, index]);
        return [];
      });
    },
    section(name, knownThere) {
      const given = raw[name];
      return given === undefined || given === null
        ? undefined
        : openSection(given, [...path, name], sources, knownThere);
    },
  };
}
