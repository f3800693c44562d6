import { integer, type Schema, text } from "./schema.ts";

/* What values of this interface look like. */

/** An identifier with its prefix. */
export function idOf(prefix: string, description: string): Schema {
  return text(description, { pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$` });
}

/** A decimal string with six places. */
export function amount(description: string): Schema {
  return text(description, { pattern: "^-?[0-9]+\\.[0-9]{6}$", examples: ["0.040000"] });
}

export function unixSeconds(description: string): Schema {
  return integer(`${description} Unix seconds.`, { minimum: 0 });
}

export const CURRENCY_SCHEMA: Schema = text("Of every amount beside it.", { const: "USD" });
