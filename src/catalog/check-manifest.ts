import type { ManifestCheck, ManifestFinding } from "../domain/ports/manifests.ts";
import { createOwnModels, MAX_MANIFEST_BYTES, type OwnModelsDeps } from "./own-models.ts";

/** The name that findings begin with, before their line and column. */
const NAME = "text";
const FINDING = new RegExp(`^${NAME}:(\\d+):(\\d+): (.*)$`, "s");

/** Checks the text of a manifest as the file of an own model is checked, by itself. */
export function checkManifest(
  { builtIn, providers }: Pick<OwnModelsDeps, "builtIn" | "providers">,
  text: string,
): ManifestCheck {
  if (Buffer.byteLength(text) > MAX_MANIFEST_BYTES)
    return {
      findings: [{ line: 1, column: 1, message: `The text is larger than ${MAX_MANIFEST_BYTES} bytes.` }],
    };
  const { models, problems } = createOwnModels({ builtIn, providers, prefix: "" })([{ name: NAME, text }]);
  const own = models.find(({ file }) => file === NAME);
  const findings = problems.map(({ line }) => findingOf(line));
  findings.sort((a, b) => a.line - b.line || a.column - b.column);
  return { id: own?.id, findings };
}

function findingOf(text: string): ManifestFinding {
  const [, line, column, message] = FINDING.exec(text) ?? [];
  if (message === undefined) return { line: 1, column: 1, message: text };
  return { line: Number(line), column: Number(column), message };
}
