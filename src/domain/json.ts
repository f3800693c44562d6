/** Any value that survives a round trip through JSON text. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** The property of this name in an object schema, if it has one. */
export function propertyOf({ properties }: JsonObject, name: string): JsonObject | undefined {
  const property = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isJsonObject(property) ? property : undefined;
}

/** Reads text as a number or a boolean where a schema's type asks for one. Text that cannot be read so stays text. */
export function readScalar(type: Json | undefined, text: string): Json {
  if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** Sets an own property of the object, whatever its name. Assigning `__proto__` would change the prototype instead. */
export function setOwn<T>(object: Record<string, T>, name: string, value: T): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Whether two objects have the same members. Lists and objects in them are the same only where they are one. */
export function haveSameMembers(one: JsonObject, other: JsonObject): boolean {
  const names = Object.keys(other);
  if (names.length !== Object.keys(one).length) return false;
  for (const name of names) if (!Object.hasOwn(one, name) || one[name] !== other[name]) return false;
  return true;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
