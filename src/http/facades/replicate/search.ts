import { mustBe } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import { listModels } from "../../../service/read-model.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { type ModelPageDeps, pageOf, presentModel } from "./models.ts";

/** More than anybody looks for. */
const MOST_BYTES = 4096;

/**
 * The models of the caller's key that have every word of the body in their names, their description or their modes, those first that
 * have one in their names. The body is text; `replicate` sends it as a JSON string.
 * @throws AppError `invalid_request`, `request_too_large`
 */
export async function foundModels(deps: ModelPageDeps, exchange: KeyedExchange): Promise<JsonObject> {
  const words = wordsIn(await textOf(exchange));
  if (words.length === 0) throw mustBe("query", { form: "text" }, { json: "" });
  const found = listModels(deps, exchange.principal).filter((model) => {
    const { description, modes } = model;
    const text = [...namesOf(deps, model), description, ...modes.map(({ id }) => id)]
      .join("\n")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const isNamed = (model: Model) => {
    const names = namesOf(deps, model).join("\n").toLowerCase();
    return words.some((word) => names.includes(word));
  };
  const inOrder = [...found.filter(isNamed), ...found.filter((model) => !isNamed(model))];
  return pageOf(inOrder.map((model) => presentModel(deps, exchange.origin, model)));
}

/** By ids, by name, and by what providers call it: clients look for `flux`. */
function namesOf({ catalog }: ModelPageDeps, model: Model): string[] {
  return [model.id, model.name, ...catalog.routes(model).map(({ upstreamModel }) => upstreamModel)];
}

function wordsIn(text: string): string[] {
  const quoted = /^\s*"/.test(text) ? parsed(text) : text;
  return quoted
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
}

function parsed(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    // Then the quotation mark is part of what is looked for.
    return text;
  }
}

async function textOf({ intake }: KeyedExchange): Promise<string> {
  const pieces = await intake.receive(MOST_BYTES, async (body) => {
    const taken: Buffer[] = [];
    for (let piece = await body.next(); piece !== undefined; piece = await body.next()) {
      body.take(piece.length);
      taken.push(Buffer.from(piece));
    }
    return taken;
  });
  return Buffer.concat(pieces).toString("utf8");
}
