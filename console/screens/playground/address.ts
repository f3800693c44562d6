import { hrefOf } from "../../shell/router.ts";
import { MOST_MODELS } from "./models.ts";
import type { Values } from "./request.ts";

/** Longer ones are cut on their way by mail programs and proxies. */
const LONGEST = 6_000;

/** Ids of models in the address. */
export function modelsOf(text: string | undefined): readonly string[] {
  const ids = (text ?? "").split(",").map((id) => id.trim());
  return [...new Set(ids.filter((id) => id !== ""))].slice(0, MOST_MODELS);
}

/** Settings in the address. What cannot be read is none. */
export function valuesOf(text: string | undefined): Values | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null && !Array.isArray(found)
      ? (found as Values)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The address of the form as it is. @returns undefined where it would be too long, or lacks files */
export function linkOf(models: readonly string[], values: Values): string | undefined {
  const given = Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) => value !== undefined && value !== "" && JSON.stringify(value) !== "[]",
    ),
  );
  const text = JSON.stringify(given);
  if (text.includes('"data:') || text.length > LONGEST) return undefined;
  const path = hrefOf("playground", "", { model: models.join(","), with: text === "{}" ? undefined : text });
  return new URL(path, location.origin).href;
}
