import type { Model } from "../domain/model/model.ts";
import { createSchemaChecker } from "../toolkit/json-schema.ts";
import { type Problem, pathText } from "../toolkit/schema-problems.ts";
import { readYaml, type Yaml, YamlError, type YamlOptions } from "../toolkit/yaml.ts";
import { type Manifest, toModel } from "./manifest.ts";
import { manifestProblems } from "./manifest-problems.ts";
import { createManifestChecker, manifestSchemaProblems } from "./schema-check.ts";
import { ANNOTATIONS } from "./validate.ts";

/** A manifest that cannot be used. The message has a line for each of the first hundred problems: `flux-dev.yaml:12:9: price.lines[0].amount must be …`. */
export class ManifestError extends Error {
  override readonly name = "ManifestError";
}

export interface ReadManifest {
  readonly manifest: Manifest;
  readonly model: Model;
  /** Problems found later, each with file, line and column. */
  linesOf(problems: readonly Problem[]): string[];
}

export interface ManifestReader {
  /**
   * Reads a manifest and checks all of it: its shape, how its parts fit each other, and the schema of its create body.
   *
   * @param file name for messages
   * @param check finds further problems of a manifest that is valid by itself
   * @throws ManifestError naming file, line, column and field of each problem
   */
  read(file: string, text: string, check?: (manifest: Manifest) => readonly Problem[]): ReadManifest;
}

/** More problems of one manifest help nobody. */
const MOST_PROBLEMS = 100;

/** Reads manifests one after the other. What they are checked by is prepared at the first one. */
export function createManifestReader(options: YamlOptions = {}): ManifestReader {
  const checker = createManifestChecker();
  return {
    read(file, text, check = () => []) {
      const yaml = parse(file, text, options);
      const linesOf = (problems: readonly Problem[]) => {
        const told = problems.slice(0, MOST_PROBLEMS).map((problem) => lineOf(file, yaml, problem));
        const more = problems.length - told.length;
        return more === 0 ? told : [...told, `${file}:1:1: the manifest has ${more} more problems`];
      };
      refuse(linesOf(manifestSchemaProblems(checker, yaml.value)));
      // What its schema has let through.
      const manifest = yaml.value as Manifest;
      refuse(linesOf(manifestProblems(manifest)));
      refuse(linesOf(check(manifest)));
      const model = toModel(manifest);
      refuse(linesOf(createBodyProblems(model)));
      return { manifest, model, linesOf };
    },
  };
}

function parse(file: string, text: string, options: YamlOptions): Yaml {
  try {
    return readYaml(text, options);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { line, column } = error.position;
    throw new ManifestError(`${file}:${line}:${column}: ${error.message}`, { cause: error });
  }
}

/** Words that JSON Schema does not know, which the schema of manifests cannot tell from ours. */
function createBodyProblems({ schema }: Model): Problem[] {
  // The schemas of all models are compiled together.
  if (JSON.stringify(schema).includes('"$id":'))
    return [{ path: ["schema"], problem: 'has a "$id", which is not taken' }];
  try {
    createSchemaChecker({ annotations: ANNOTATIONS }).prepare(schema);
    return [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ path: ["schema"], problem: `cannot be used: ${reason}` }];
  }
}

function lineOf(file: string, yaml: Yaml, { path, member, problem }: Problem): string {
  const position = member === undefined ? yaml.positionOf(path) : yaml.positionOf([...path, member], "key");
  return `${file}:${position.line}:${position.column}: ${pathText(path) || "the manifest"} ${problem}`;
}

function refuse(lines: readonly string[]): void {
  if (lines.length > 0) throw new ManifestError(lines.join("\n"));
}
