import { readYaml, YamlError } from "../../../toolkit/yaml.ts";
import { deriveExample } from "../checking/derive.ts";
import { flowsOf } from "../checking/flows.ts";
import { compileForm } from "../compiled-form.ts";
import type { ExampleForm } from "../form.ts";
import { FormFileError, readForm } from "../read-form.ts";
import { formFromOpenApi } from "./from-openapi.ts";
import { OpenApiError } from "./openapi.ts";
import { plainForm } from "./plain.ts";

/** The most that an OpenAPI document may be. */
export const OPENAPI_BYTES = 16 * 1024 * 1024;

/** The start of a form. @param openapi the text of a document to begin with, JSON or YAML @throws OpenApiError */
export async function beginForm(id: string, openapi?: string): Promise<string> {
  if (openapi === undefined) return plainForm(id);
  const text = formFromOpenApi(id, parse(openapi));
  const example = await exampleOf(id, text);
  return example === undefined ? text : `${text}${exampleLines(example)}`;
}

function parse(text: string): unknown {
  try {
    // The reader of YAML takes seconds for a large document, and most are JSON.
    return text.trimStart().startsWith("{")
      ? (JSON.parse(text) as unknown)
      : readYaml(text, { maxBytes: OPENAPI_BYTES }).value;
  } catch (error) {
    if (error instanceof YamlError)
      throw new OpenApiError(`${error.position.line}:${error.position.column}: ${error.message}`);
    if (error instanceof SyntaxError) throw new OpenApiError(`is no JSON: ${error.message}`);
    throw error;
  }
}

/** A request and answers that the form comes to an end with. */
async function exampleOf(id: string, text: string): Promise<ExampleForm | undefined> {
  try {
    const form = readForm(`${id}.yaml`, text);
    const compiled = compileForm(form, "");
    const [flow] = flowsOf(form, compiled);
    return flow && (await deriveExample(form, compiled, flow));
  } catch (error) {
    // Its author sees the findings with `svc providers check`.
    if (error instanceof FormFileError) return undefined;
    throw error;
  }
}

function exampleLines({ request, answers, ends }: ExampleForm): string {
  return [
    "examples: # TODO what its documentation shows: these answers follow from the form alone",
    "  - name: a first request",
    `    request: ${JSON.stringify(request)}`,
    "    answers:",
    ...answers.map((answer) => `      - ${JSON.stringify(answer)}`),
    `    ends: ${JSON.stringify(ends)}`,
    "",
  ].join("\n");
}
