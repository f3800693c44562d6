import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/** Beside the repository, where there is one: what upstreams publish of their interfaces. Not part of this project. */
const FOLDER = join(import.meta.dir, "../../../shared/upstreams");

/** An upstream's own OpenAPI document. */
export interface Published {
  /** What is wrong with a value by the schema at this place; form fields are read as the types it wants. */
  problems(place: readonly string[], value: unknown, isForm?: boolean): string[];
  /** What stands at this place. */
  at(place: readonly string[]): unknown;
}

/** Reads a document, or says that tests against it are skipped. */
export function openPublished(file: string): Published | undefined {
  const path = join(FOLDER, file);
  if (!existsSync(path)) {
    console.warn(`Skipped: checks against ${file}, which is not beside the repository.`);
    return undefined;
  }
  const document = JSON.parse(readFileSync(path, "utf8"));
  const compiler = (coerceTypes: boolean) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, coerceTypes });
    ajv.addSchema(document, "published");
    const compiled = new Map<string, ValidateFunction>();
    return (pointer: string): ValidateFunction => {
      const check = compiled.get(pointer) ?? ajv.compile({ $ref: `published#${pointer}` });
      compiled.set(pointer, check);
      return check;
    };
  };
  const [exact, coercing] = [compiler(false), compiler(true)];
  return {
    problems(place, value, isForm = false) {
      const pointer = place.map(
        (part) => `/${encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))}`,
      );
      const check = (isForm ? coercing : exact)(pointer.join(""));
      if (check(structuredClone(value))) return [];
      return (check.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
    },
    at: (place) => place.reduce((value, part) => value?.[part], document),
  };
}
