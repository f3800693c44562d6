import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";

/* Reads what an answer may have. What another version of the server left out, or has otherwise, is empty. */

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const objectsOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
