import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { ALERT_KINDS, type AlertKind, type AlertWish } from "../../domain/alerts.ts";
import type { JsonObject } from "../../domain/json.ts";
import { suggest } from "../../domain/suggest.ts";
import { boolean, number, type Parser, secondsAsMs, text } from "../../toolkit/settings/parsers.ts";
import { createSecret, type Secret } from "../../toolkit/settings/secret.ts";
import { openSection, type Section } from "../moderation/section.ts";
import { type ConfigProblem, show } from "../problem.ts";
import { ALERTS, type SettingsFile } from "../settings-file.ts";

/** How a target is reached. Addresses may contain secrets, such as the path of a chat's webhook. */
export type AlertWay =
  | { readonly kind: "webhook"; readonly url: Secret; readonly host: string; readonly isPrivate: boolean }
  | {
      readonly kind: "mail";
      readonly url: Secret;
      readonly host: string;
      readonly password?: Secret | undefined;
    }
  | {
      readonly kind: "command";
      readonly run: readonly string[];
      /** The folder it runs in: that of the settings file. */
      readonly folder: string;
      readonly env: Readonly<Record<string, string>>;
    };

export interface AlertSettings extends AlertWish {
  /** File, line and column. */
  readonly where: string;
  /** Stays the same as long as the address does. No other target has it, not even one with the same address. */
  readonly id: string;
  readonly way: AlertWay;
}

type Env = Readonly<Record<string, string | undefined>>;

const DAY_MS = 86_400_000;
const ERROR_PERCENT = 5;
const FIELDS = ["on", "to", "to_env", "password_env", "private", "remind_seconds", "error_percent"] as const;
/** Variables without which few programs run, and which hold no secret. */
const PASSED_ON = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/** Reads the targets and the alerts that each receives. Undefined entries are wrong, which is reported. */
export function readAlerts(
  file: SettingsFile | undefined,
  env: Env,
  problems: ConfigProblem[],
): AlertSettings[] {
  const raw = file?.values.get(ALERTS) ?? undefined;
  if (file === undefined || raw === undefined) return [];
  if (!Array.isArray(raw)) {
    problems.push({
      where: `${file.path}: ${ALERTS}`,
      message: `must be a list of targets, got ${show(raw)}`,
    });
    return [];
  }
  const targets = raw.flatMap((each: unknown, index) => {
    const section = openSection(each, [ALERTS, index], { file, problems }, FIELDS);
    return (section && readTarget(section, { env, folder: dirname(file.path) })) ?? [];
  });
  return toldApart(targets);
}

/** One address may be listed more than once, such as with other limits for other alerts: each of its targets is told by itself. */
function toldApart(targets: readonly AlertSettings[]): AlertSettings[] {
  const times = new Map<string, number>();
  return targets.map((target) => {
    const earlier = times.get(target.id) ?? 0;
    times.set(target.id, earlier + 1);
    return earlier === 0 ? target : { ...target, id: `${target.id}-${earlier + 1}` };
  });
}

function readTarget(section: Section, sources: { env: Env; folder: string }): AlertSettings | undefined {
  const kinds = readKinds(section);
  const wish = {
    kinds,
    remindMs: section.read("remind_seconds", secondsAsMs(60, 30 * 86_400)) ?? DAY_MS,
    errorPercent: section.read("error_percent", number(0, 100)) ?? ERROR_PERCENT,
  };
  const isPrivate = section.read("private", boolean) ?? false;
  const way = readWay(section, { ...sources, isPrivate });
  if (way === undefined) return undefined;
  const address = way.kind === "command" ? way.run.join("\0") : way.url.reveal();
  const id = createHash("sha256").update(`${way.kind} ${address}`).digest("hex").slice(0, 16);
  return { ...wish, where: section.where(), id, way };
}

function readKinds(section: Section): readonly AlertKind[] {
  const { on } = section.values;
  if (on === "all") return ALERT_KINDS;
  const given = [on].flat(1);
  const kinds = ALERT_KINDS.filter((kind) => given.includes(kind));
  const wrong = given.find((each) => !ALERT_KINDS.some((kind) => kind === each));
  if (wrong !== undefined || kinds.length === 0) {
    const near = typeof wrong === "string" ? suggest(wrong, ALERT_KINDS) : undefined;
    section.refuse(
      `must be all, or some of ${ALERT_KINDS.join(", ")}, got ${show(wrong ?? on)}`,
      ["on"],
      near,
    );
  }
  return kinds;
}

function readWay(
  section: Section,
  { env, folder, isPrivate }: { env: Env; folder: string; isPrivate: boolean },
): AlertWay | undefined {
  const { to } = section.values;
  const hasVariable = section.names.includes("to_env");
  if ((to === undefined || to === null) === !hasVariable) {
    section.refuse("must have to or to_env: a URL, smtp://…, or a list with a program and its arguments");
    return undefined;
  }
  if (Array.isArray(to)) {
    const run = section.texts("to", "a program and its arguments").map(({ text: word }) => word);
    if (run.length === 0) section.refuse("must have a program", ["to"]);
    const passedOn = PASSED_ON.flatMap((name) =>
      env[name] === undefined ? [] : [[name, env[name]] as const],
    );
    return run.length === 0 ? undefined : { kind: "command", run, folder, env: Object.fromEntries(passedOn) };
  }
  const field = hasVariable ? "to_env" : "to";
  const given = hasVariable ? valueIn(section, "to_env", env) : section.read("to", text, true);
  if (given === undefined) return undefined;
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol))
    return { kind: "webhook", url: createSecret(given), host: url.host, isPrivate };
  if (url !== null && /^smtps?:$/.test(url.protocol) && isMail(url)) {
    const password = section.names.includes("password_env")
      ? valueIn(section, "password_env", env)
      : undefined;
    return {
      kind: "mail",
      url: createSecret(given),
      host: url.host,
      password: password === undefined ? undefined : createSecret(password),
    };
  }
  section.refuse(
    "must be an http, https, smtp or smtps URL; mail needs ?from=…&to=…, and its password in password_env",
    [field],
  );
  return undefined;
}

const isMail = ({ hostname, searchParams, password }: URL): boolean =>
  hostname !== "" &&
  password === "" &&
  ["from", "to"].every((name) => (searchParams.get(name) ?? "").includes("@"));

const VARIABLE: Parser<string> = (raw) =>
  typeof raw === "string" && /^[A-Z][A-Z0-9_]{0,127}$/.test(raw)
    ? { ok: true, value: raw }
    : { ok: false, expected: "the name of a variable, such as ALERT_URL" };

function valueIn(section: Section, field: string, env: Env): string | undefined {
  const name = section.read(field, VARIABLE, true);
  const value = name === undefined ? undefined : env[name];
  if (name !== undefined && !value) section.refuse(`names the variable ${name}, which is not set`, [field]);
  return value || undefined;
}

/** What a settings file may have under `alerts`. */
export const ALERTS_SCHEMA: JsonObject = {
  type: "array",
  description: "who is told of what goes wrong",
  items: {
    type: "object",
    additionalProperties: false,
    required: ["on"],
    properties: {
      on: {
        anyOf: [
          { const: "all" },
          { enum: [...ALERT_KINDS] },
          { type: "array", minItems: 1, items: { enum: [...ALERT_KINDS] } },
        ],
      },
      to: {
        anyOf: [
          { type: "string", format: "uri" },
          { type: "array", minItems: 1, items: { type: "string" } },
        ],
        description: "a webhook's URL, smtp://user@host:587?from=…&to=…, or a program and its arguments",
      },
      to_env: { type: "string", description: "the variable that holds the address, where it is a secret" },
      password_env: { type: "string", description: "the variable that holds the password of smtp" },
      private: {
        type: "boolean",
        description: "the webhook may be at an address that is not public, and over http",
      },
      remind_seconds: { type: "number", minimum: 60, maximum: 2_592_000, default: 86_400 },
      error_percent: { type: "number", minimum: 0, maximum: 100, default: ERROR_PERCENT },
    },
  },
};
