import { isJsonObject } from "../domain/json.ts";
import { isCredential, type Setting } from "../toolkit/settings/setting.ts";
import { MASK, type ShownSetting } from "../toolkit/settings/shown.ts";
import type { Chosen, Given } from "./choose.ts";
import { restartReason, VARIABLE_STAYS } from "./restart.ts";

/** Members that may hold a secret where an operator writes freely. */
const MAY_BE_SECRET = /(^|_)(key|secret|token|password|credentials?|authorization|proxy|command)$/i;
const VARIABLE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;
/** A user and a password in an address. */
const IN_ADDRESS = /:\/\/[^/\s"@]*@/g;

/** @param given after everything was read */
export function shownSettings({ chosen, file }: Given): ShownSetting[] {
  const settings = [...(chosen ?? [])].flatMap(([entry]) => (isCredential(entry) ? [] : entry));
  const all = [...(chosen ?? [])].map(([entry, value]): ShownSetting => {
    if (!isCredential(entry))
      return { ...shownSetting(entry, value, file), restart: restartReason(entry, settings) };
    const { source, where } = value;
    const shown = { key: entry.variable, value: value.value === true ? MASK : null, source, where };
    return { ...shown, restart: VARIABLE_STAYS };
  });
  const known = new Set(all.map(({ key }) => key));
  const parts = [...(file?.values ?? [])]
    .filter(([key, value]) => !known.has(key) && value !== null && value !== undefined)
    .map(([key, value]): ShownSetting => {
      return { key, value: masked(value), source: "file", where: file?.placeOfKey(key) };
    });
  return [...all, ...parts];
}

function shownSetting(
  setting: Setting<unknown>,
  { value, source, where }: Chosen<unknown>,
  file: Given["file"],
): ShownSetting {
  const { key, help, parse, fallback, fallbackText } = setting;
  const written = parse.toFile === undefined ? value : parse.toFile(value);
  const shown = setting.isSecret === true && value !== undefined ? MASK : masked(written);
  return {
    ...{ key, help, source, value: shown ?? null },
    where: source === "file" ? file?.placeOfKey(key) : where,
    standard: fallbackText ?? (fallback === undefined ? undefined : String(fallback)),
  };
}

/** A key may have been written in place of the name of its variable. */
function mayBeSecret(name: string, value: unknown): boolean {
  const isPasted = name.endsWith("_env") && typeof value === "string" && !VARIABLE.test(value);
  return isPasted || MAY_BE_SECRET.test(name);
}

/** Leaves out of what an operator wrote all that may be a secret. */
function masked(value: unknown): unknown {
  if (typeof value === "string") return value.replace(IN_ADDRESS, "://…@");
  if (Array.isArray(value)) return value.map(masked);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, member]) => [name, shownMember(name, member)]));
}

function shownMember(name: string, value: unknown): unknown {
  if (mayBeSecret(name, value)) return MASK;
  return name === TARGET ? shownTarget(value) : masked(value);
}

/** Where alerts go. Who knows the whole address of a chat's webhook may write there, and arguments of a program may be secrets. */
const TARGET = "to";

function shownTarget(value: unknown): unknown {
  if (Array.isArray(value)) return MASK;
  const url = typeof value === "string" ? URL.parse(value) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? `${url.origin}/…` : masked(value);
}
