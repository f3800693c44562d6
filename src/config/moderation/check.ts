import { resolve } from "node:path";
import {
  apiKey,
  apiUrl,
  integer,
  number,
  oneOf,
  type Parser,
  secondsAsMs,
  text,
} from "../../toolkit/settings/parsers.ts";
import { createSecret, type Secret } from "../../toolkit/settings/secret.ts";
import { VARIABLE_PREFIX } from "../settings.ts";
import type { Section } from "./section.ts";

/** A word or a pattern to refuse. */
export interface RuleSettings {
  readonly kind: "word" | "pattern";
  readonly text: string;
  /** What the log calls it. */
  readonly name: string;
  /** File, line, column and path. */
  readonly where: string;
}

interface Named {
  readonly name: string;
  /** Where the check is written. */
  readonly where: string;
  readonly onOutage: "refuse" | "allow";
  /** The fields it reads; all unless given. */
  readonly fields?: readonly string[] | undefined;
}

export interface RulesSettings extends Named {
  readonly kind: "rules";
  readonly rules: readonly RuleSettings[];
  /** Files with a rule on each line. Absolute. */
  readonly files: readonly {
    readonly kind: RuleSettings["kind"];
    readonly path: string;
    readonly where: string;
  }[];
}

/** What is asked of another program. */
interface Asked extends Named {
  readonly timeoutMs: number;
  /** How many requests are asked about at once. */
  readonly concurrency: number;
}

export interface EndpointSettings extends Asked {
  readonly kind: "endpoint";
  readonly url: string;
  readonly key?: Secret | undefined;
  /** The key's variable is not set. */
  readonly lacksKey?: string | undefined;
  readonly model?: string | undefined;
  readonly categories: readonly string[];
  readonly thresholds: Readonly<Record<string, number>>;
}

export interface CommandSettings extends Asked {
  readonly kind: "command";
  readonly run: readonly string[];
  /** The folder it runs in: that of the settings file. */
  readonly folder: string;
  /** All that it gets of the environment. */
  readonly env: Readonly<Record<string, string>>;
}

export type CheckSettings = RulesSettings | EndpointSettings | CommandSettings;

export interface CheckSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** That of the settings file, which relative paths start from. */
  readonly folder: string;
}

const OF_RULES = ["words", "words_file", "patterns", "patterns_file"] as const;
const ASKED = ["timeout_seconds", "concurrency", "on_outage"] as const;
const FIELDS = {
  rules: [...OF_RULES, "fields"],
  endpoint: ["endpoint", "key_env", "model", "categories", "thresholds", ...ASKED, "fields"],
  command: ["command", ...ASKED, "fields"],
} as const;
/** Variables without which few programs run, and which hold no secret. */
const PASSED_ON = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"];
/** What a check is known by. */
const KINDS = `${OF_RULES.join(", ")}, endpoint or command`;

/** Reads one check. What is wrong is told; then what was read is not used. */
export function readCheck(name: string, checks: Section, sources: CheckSources): CheckSettings | undefined {
  const whole = checks.section(name);
  if (whole === undefined) return undefined;
  const kinds = [
    ...(OF_RULES.some((each) => whole.names.includes(each)) ? (["rules"] as const) : []),
    ...(["endpoint", "command"] as const).filter((each) => whole.names.includes(each)),
  ];
  const [kind, second] = kinds;
  if (kind === undefined) {
    whole.refuse(`must have ${KINDS}`);
    return undefined;
  }
  if (second !== undefined) {
    whole.refuse(`must be one check, of ${kind} or of ${second}; make two of it`);
    return undefined;
  }
  const section = checks.section(name, FIELDS[kind]);
  if (section === undefined) return undefined;
  const fields = section.texts("fields", "fields").map(({ text: field }) => field);
  const named: Named = {
    ...{ name, where: section.where(), fields: fields.length === 0 ? undefined : fields },
    onOutage: section.read("on_outage", oneOf(["refuse", "allow"])) ?? "refuse",
  };
  if (kind === "rules") return readRules(named, section, sources);
  const asked = {
    ...named,
    timeoutMs: section.read("timeout_seconds", secondsAsMs(0.1, 60)) ?? 5_000,
    concurrency: section.read("concurrency", integer(1, 256)) ?? (kind === "endpoint" ? 16 : 4),
  };
  return kind === "endpoint" ? readEndpoint(asked, section, sources) : readCommand(asked, section, sources);
}

function readRules(named: Named, section: Section, { folder }: CheckSources): RulesSettings {
  const listed = (kind: RuleSettings["kind"], list: string) =>
    section.texts(list, `${list}`).map(
      ({ text: rule, index }): RuleSettings => ({
        ...{ kind, text: rule, name: `${list}[${index}]` },
        where: section.where(list, index),
      }),
    );
  const file = (kind: RuleSettings["kind"], field: string) => {
    const path = section.read(field, text);
    return path === undefined ? [] : [{ kind, path: resolve(folder, path), where: section.where(field) }];
  };
  return {
    ...named,
    kind: "rules",
    rules: [...listed("word", "words"), ...listed("pattern", "patterns")],
    files: [...file("word", "words_file"), ...file("pattern", "patterns_file")],
  };
}

function readEndpoint(asked: Asked, section: Section, { env }: CheckSources): EndpointSettings | undefined {
  const url = section.read("endpoint", apiUrl);
  const thresholds = section.section("thresholds");
  const limits = (thresholds?.names ?? []).flatMap((category) => {
    const least = thresholds?.read(category, number(0, 1));
    return least === undefined ? [] : [[category, least] as const];
  });
  if (url === undefined) return undefined;
  return {
    ...asked,
    ...{ kind: "endpoint", url, model: section.read("model", text) },
    ...keyOf(section, env),
    categories: section.texts("categories", "categories").map(({ text: category }) => category),
    thresholds: Object.fromEntries(limits),
  };
}

/** The key in the variable that is named. Only what asks needs it, so that its absence is no problem here. */
function keyOf(section: Section, env: CheckSources["env"]): Pick<EndpointSettings, "key" | "lacksKey"> {
  const name = section.read("key_env", VARIABLE, true);
  const value = name === undefined ? undefined : env[name];
  if (name === undefined) return {};
  if (value === undefined || value.trim() === "") return { lacksKey: name };
  const parsed = apiKey(value);
  if (parsed.ok) return { key: createSecret(parsed.value) };
  section.refuse(`must lead to ${parsed.expected}`, ["key_env"]);
  return {};
}

const VARIABLE: Parser<string> = (raw) => {
  const isName = typeof raw === "string" && /^[A-Z][A-Z0-9_]{0,127}$/.test(raw);
  return isName && !raw.startsWith(VARIABLE_PREFIX)
    ? { ok: true, value: raw }
    : {
        ok: false,
        expected: `the name of a variable, such as MODERATION_KEY, that does not begin with ${VARIABLE_PREFIX}`,
      };
};

function readCommand(
  asked: Asked,
  section: Section,
  { env, folder }: CheckSources,
): CommandSettings | undefined {
  const run = section.texts("command", "a program and its arguments").map(({ text: word }) => word);
  const passedOn = PASSED_ON.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  if (run.length > 0) return { ...asked, kind: "command", run, folder, env: Object.fromEntries(passedOn) };
  if (Array.isArray(section.values.command)) section.refuse("must have a program", ["command"]);
  return undefined;
}
