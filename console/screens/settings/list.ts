import type { Schemas } from "../../api/published.d.ts";

export type Setting = Schemas["Settings"]["settings"][number];

/** What stands in place of a secret. The service sends none. */
export const MASK = "[secret]";

/** Which settings are shown; the address has the same names. */
export interface Filters {
  /** Words that each have to be in the name, what it decides, its value or where it was given. */
  readonly q: string;
  readonly from: (typeof FROM)[number][0];
  readonly takes: (typeof TAKES)[number][0];
}

export const FROM = [
  ["", "Anywhere"],
  ["given", "Not the defaults"],
  ["file", "The settings file"],
  ["variable", "Variables"],
  ["flag", "Flags"],
  ["default", "Defaults"],
] as const;

export const TAKES = [
  ["", "At any time"],
  ["now", "At once"],
  ["restart", "After a restart"],
] as const;

/** @param asked what an address says, which may be anything */
export function filtersOf(asked: Readonly<Record<string, string>>): Filters {
  const known = <Value extends string>(all: readonly (readonly [Value, string])[], value = "") =>
    all.find(([each]) => each === value)?.[0];
  return { q: asked.q ?? "", from: known(FROM, asked.from) ?? "", takes: known(TAKES, asked.takes) ?? "" };
}

export function fitting(settings: readonly Setting[], { q, from, takes }: Filters): Setting[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return settings.filter((setting) => {
    const { source, restart } = setting;
    if (from === "given" ? source === "default" : from !== "" && source !== from) return false;
    if (takes !== "" && (takes === "restart") !== (restart !== null)) return false;
    const text = textOf(setting);
    return words.every((word) => text.includes(word));
  });
}

function textOf({ key, description, value, where, default: standard }: Setting): string {
  return [key, description, valueText(value), where, standard].join("\n").toLowerCase();
}

/** A value as a reader takes it in; what svc.yaml has is the same, or JSON of it. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (Array.isArray(value) && value.every((each) => typeof each !== "object"))
    return value.length === 0 ? "none" : value.join(", ");
  return typeof value === "object" ? JSON.stringify(value, undefined, 2) : String(value);
}

/** Settings that belong together, by the first part of their names. */
export interface Group {
  readonly title: string;
  readonly settings: readonly Setting[];
}

export function grouped(settings: readonly Setting[]): Group[] {
  const groups = new Map<string, Setting[]>();
  for (const setting of settings) {
    const title = groupOf(setting.key);
    const group = groups.get(title);
    if (group === undefined) groups.set(title, [setting]);
    else group.push(setting);
  }
  return [...groups].map(([title, each]) => ({ title, settings: each }));
}

function groupOf(key: string): string {
  if (/^[A-Z][A-Z0-9_]*$/.test(key)) return "Keys in variables";
  const [first = "", second, third] = key.split(".");
  if (second === undefined) return "General";
  // Each provider has its own.
  return first === "providers" && third !== undefined ? `providers.${second}` : first;
}
