import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { suggest } from "../domain/suggest.ts";

/** A value of a manifest and where it stands, so that whatever is wrong with it can be named. */
export interface Place {
  readonly file: string;
  /** `price.lines[0].amount`; empty for the whole file. */
  readonly path: string;
  readonly value: unknown;
}

/** A manifest that cannot be used: `sandbox-image.yaml: price.lines[0].amount must be …`. */
export class ManifestError extends Error {
  override readonly name = "ManifestError";
  /** Where the problem stands; empty for the whole. */
  readonly path: string;
  constructor(
    place: Pick<Place, "file" | "path">,
    /** Completes a sentence that begins with the field: `must be …`. */
    readonly problem: string,
  ) {
    super(`${place.file}: ${place.path === "" ? "the manifest" : place.path} ${problem}`);
    this.path = place.path;
  }
}

/** An object with these members and no others; those marked `?` may be missing. */
export function readMembers<const N extends string>(
  place: Place,
  names: readonly N[],
): (name: Bare<N>) => Place {
  const members = readObject(place);
  const known = names.map((name) => name.replace("?", ""));
  for (const name of Object.keys(members)) {
    if (known.includes(name)) continue;
    const near = suggest(name, known);
    throw new ManifestError(
      place,
      `has an unknown field "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`,
    );
  }
  for (const name of names) {
    if (!name.endsWith("?") && members[name] === undefined)
      throw new ManifestError(place, `lacks the field "${name}"`);
  }
  return (name) => member(place, members, name);
}
type Bare<N extends string> = N extends `${infer Name}?` ? Name : N;

export function readObject(place: Place): JsonObject {
  if (!isJsonObject(place.value)) throw new ManifestError(place, "must be an object");
  return place.value;
}

/** The members of an object whose names are free. */
export function readEntries(place: Place): [name: string, place: Place][] {
  const members = readObject(place);
  return Object.keys(members).map((name) => [name, member(place, members, name)]);
}

export function readList(place: Place, atLeast: number): Place[] {
  if (!Array.isArray(place.value)) throw new ManifestError(place, "must be a list");
  if (place.value.length < atLeast) throw new ManifestError(place, `must have at least ${atLeast} entries`);
  return place.value.map((value: unknown, i) => ({ file: place.file, path: `${place.path}[${i}]`, value }));
}

export function readText(place: Place): string {
  if (typeof place.value === "string" && place.value !== "") return place.value;
  throw new ManifestError(place, "must be a text that is not empty");
}

export function readChoice<T extends string>(place: Place, choices: readonly T[]): T {
  const choice = choices.find((each) => each === place.value);
  if (choice !== undefined) return choice;
  throw new ManifestError(place, `must be one of ${choices.join(", ")}`);
}

export function readCount(place: Place): number {
  if (typeof place.value === "number" && Number.isSafeInteger(place.value) && place.value > 0)
    return place.value;
  throw new ManifestError(place, "must be a whole number above 0");
}

function member(place: Place, members: JsonObject, name: string): Place {
  return { file: place.file, path: place.path === "" ? name : `${place.path}.${name}`, value: members[name] };
}
