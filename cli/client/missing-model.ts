import type { JsonObject } from "../../src/domain/json.ts";
import { suggest } from "../../src/domain/suggest.ts";
import { Failure } from "../failure.ts";
import { firstLine } from "../format/printable.ts";

/**
 * Reads a model. A missing model is reported in the words of commands, because the server's own message names an endpoint.
 *
 * @param list every model of the server, asked for only when this one is missing
 * @throws Failure what reading throws
 */
export async function readModelOrTell(
  id: string,
  read: () => Promise<JsonObject>,
  list: () => Promise<readonly JsonObject[]>,
): Promise<JsonObject> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "model_not_available") throw error;
    const models = await list().catch(() => undefined);
    if (models === undefined) throw error;
    const ids = models.map((model) => String(model.id));
    const { exitCode, code, hint, requestId, more } = error;
    throw new Failure(exitCode, code, sentenceFor(id, ids), { hint, requestId, more });
  }
}

function sentenceFor(id: string, ids: readonly string[]): string {
  if (ids.includes(id)) return `The model "${id}" is not available on this server at present.`;
  const near = suggest(id, ids);
  const shown = firstLine(id, 80);
  return `There is no model "${shown}".${near === undefined ? "" : ` Did you mean "${near}"?`}`;
}
