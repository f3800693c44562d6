import { afterAll } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/**
 * What upstreams publish of their interfaces, which is not part of this project: beside the repository, or downloaded
 * by `bun run upstreams`.
 */
const FOLDERS = ["../../../shared/upstreams", "../../upstreams"].map((path) => join(import.meta.dir, path));

/** An upstream's own OpenAPI document. Where it is not here, what it is asked is counted as skipped checks. */
export interface Published {
  readonly isHere: boolean;
  /** What is wrong with a value by the schema at this place; form fields are read as the types it wants. */
  problems(place: readonly string[], value: unknown, isForm?: boolean): string[];
  /** What stands at this place; undefined where nothing does, or the document is not here. */
  at(place: readonly string[]): unknown;
}

/** Counts what it is asked, and tells the number after the last test of the file. */
function absent(file: string): Published {
  let skipped = 0;
  afterAll(() => {
    process.stderr.write(
      `${skipped} checks skipped: ${file} is not here; \`bun run upstreams\` downloads it.\n`,
    );
  });
  const skip = () => {
    skipped += 1;
  };
  return {
    isHere: false,
    problems() {
      skip();
      return [];
    },
    at: () => skip(),
  };
}

/** Opens a document by its path below the folder of published contracts. */
export function openPublished(file: string): Published {
  const path = FOLDERS.map((folder) => join(folder, file)).find((candidate) => existsSync(candidate));
  return path === undefined ? absent(file) : opened.getOrInsertComputed(path, open);
}

/** By their paths: test files of one process share what is compiled of a document. */
const opened = new Map<string, Published>();

function open(path: string): Published {
  const document = JSON.parse(readFileSync(path, "utf8"));
  const compiler = (coerceTypes: boolean) => {
    const ajv = new Ajv2020({
      strict: false,
      validateFormats: false,
      coerceTypes,
      code: { optimize: false },
    });
    ajv.addSchema(document, "published");
    const compiled = new Map<string, ValidateFunction>();
    return (pointer: string): ValidateFunction => {
      const check = compiled.get(pointer) ?? ajv.compile({ $ref: `published#${pointer}` });
      compiled.set(pointer, check);
      return check;
    };
  };
  // Most upstreams take JSON alone.
  const compilers = new Map<boolean, ReturnType<typeof compiler>>();
  return {
    isHere: true,
    problems(place, value, isForm = false) {
      const pointer = place.map(
        (part) => `/${encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))}`,
      );
      const check = compilers.getOrInsertComputed(isForm, compiler)(pointer.join(""));
      if (check(structuredClone(value))) return [];
      return (check.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
    },
    at: (place) => place.reduce((value, part) => value?.[part], document),
  };
}
