import type { Model } from "../domain/model/model.ts";
import { createSchemaChecker } from "../toolkit/json-schema.ts";
import { type Problem, pathText } from "../toolkit/schema-problems.ts";
import { readYaml, type Yaml, YamlError } from "../toolkit/yaml.ts";
import { type Manifest, toModel } from "./manifest.ts";
import { manifestProblems } from "./manifest-problems.ts";
import { manifestSchemaProblems } from "./schema-check.ts";
import { ANNOTATIONS } from "./validate.ts";

/** A manifest that cannot be used. The message has a line for each problem: `flux-dev.yaml:12:9: price.lines[0].amount must be …`. */
export class ManifestError extends Error {
  override readonly name = "ManifestError";
}

/**
 * Reads a manifest and checks all of it: its shape, how its parts fit each other, and the schema of its create body.
 *
 * @param file name for messages
 * @throws ManifestError naming file, line, column and field of each problem
 */
export function readManifest(file: string, text: string): Model {
  const yaml = parse(file, text);
  refuse(file, yaml, manifestSchemaProblems(yaml.value));
  // What its schema has let through.
  const manifest = yaml.value as Manifest;
  refuse(file, yaml, manifestProblems(manifest));
  const model = toModel(manifest);
  refuse(file, yaml, createBodyProblems(model));
  return model;
}

function parse(file: string, text: string): Yaml {
  try {
    return readYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { line, column } = error.position;
    throw new ManifestError(`${file}:${line}:${column}: ${error.message}`, { cause: error });
  }
}

/** Words that JSON Schema does not know, which the schema of manifests cannot tell from ours. */
function createBodyProblems({ schema }: Model): Problem[] {
  try {
    createSchemaChecker({ annotations: ANNOTATIONS }).prepare(schema);
    return [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ path: ["schema"], problem: `cannot be used: ${reason}` }];
  }
}

function refuse(file: string, yaml: Yaml, problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ path, member, problem }) => {
    const position = member === undefined ? yaml.positionOf(path) : yaml.positionOf([...path, member], "key");
    const subject = pathText(path) || "the manifest";
    return `${file}:${position.line}:${position.column}: ${subject} ${problem}`;
  });
  throw new ManifestError(lines.join("\n"));
}
