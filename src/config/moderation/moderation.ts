import { dirname } from "node:path";
import { suggest } from "../../domain/suggest.ts";
import type { ConfigProblem } from "../problem.ts";
import { MODERATION, type SettingsFile } from "../settings-file.ts";
import { type CheckSettings, readCheck } from "./check.ts";
import { openSection, type Section } from "./section.ts";

/** The checks of what callers ask for, as the settings file has them. What they name outside of it was not looked at. */
export interface ModerationSettings {
  readonly checks: readonly CheckSettings[];
  /** Names of checks for models and keys of which nothing else is said. */
  readonly apply: readonly string[];
  /** Names of checks by ids of models, with `*` for any characters. */
  readonly models: readonly (readonly [pattern: string, names: readonly string[]])[];
}

const SECTIONS = ["checks", "apply", "models"] as const;
/** Words that stand for choices of checks where a key names them. */
const RESERVED = ["none", "default", "any"];
const NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

/** @returns undefined where the settings file has no checks */
export function readModeration(
  file: SettingsFile | undefined,
  env: Readonly<Record<string, string | undefined>>,
  problems: ConfigProblem[],
): ModerationSettings | undefined {
  const raw = file?.values.get(MODERATION) ?? undefined;
  if (file === undefined || raw === undefined) return undefined;
  const section = openSection(raw, [MODERATION], { file, problems }, SECTIONS);
  if (section === undefined) return undefined;
  const given = section.section("checks");
  const sources = { env, folder: dirname(file.path) };
  const checks = (given?.names ?? []).flatMap((name) => {
    if (!NAME.test(name) || RESERVED.includes(name)) {
      const rule = `must be named with up to 32 lower-case letters, digits, - and _, and not ${RESERVED.join(" or ")}`;
      given?.refuse(rule, [name]);
    }
    return given === undefined ? [] : (readCheck(name, given, sources) ?? []);
  });
  const known = given?.names ?? [];
  const models = section.section("models");
  return {
    checks,
    apply: namesIn(section, "apply", known),
    models: (models?.names ?? []).map((pattern) => [
      pattern,
      models === undefined ? [] : namesIn(models, pattern, known),
    ]),
  };
}

/** A list of names of checks. One that there is not is told. */
function namesIn(section: Section, name: string, known: readonly string[]): readonly string[] {
  const given = section.texts(name, "names of checks");
  for (const { text, index } of given)
    if (!known.includes(text))
      section.refuse(`is no check of moderation.checks, got "${text}"`, [name, index], suggest(text, known));
  return [...new Set(given.map(({ text }) => text))];
}
