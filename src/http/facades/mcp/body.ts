import { AppError, invalid } from "../../../domain/errors.ts";
import { type Json, type JsonObject, setOwn } from "../../../domain/json.ts";
import type { MediaField, Model } from "../../../domain/model/model.ts";
import { namesFrom } from "../../../domain/words/say.ts";
import type { ModelBody } from "../../../service/compat-request.ts";
import { imageField, isList } from "../../../service/model-fields.ts";
import { textOf, textsOf } from "./arguments.ts";

/** Arguments that are the call's, and not the model's. */
const OF_THE_CALL = new Set(["wait", "max_cost", "idempotency_key"]);

/** The names that tools have for images to edit, whatever a model calls them. */
export const IMAGES = "images";
export const MASK = "mask";

/**
 * A call's arguments as a model's create body, and the agent's names for its fields. Everything else passes unchanged, so that the
 * model's schema decides about it.
 * @throws AppError naming the argument that the model cannot use
 */
export function bodyOf(model: Model, args: JsonObject): ModelBody {
  const body: Record<string, Json> = {};
  const names: Record<string, string> = {};
  for (const [name, value] of Object.entries(args)) {
    const isTranslated = model.kind === "image" && (name === IMAGES || name === MASK);
    if (OF_THE_CALL.has(name) || isTranslated || value === undefined || value === null) continue;
    setOwn(body, name, value);
  }
  body.model = model.id;
  if (model.kind === "image") {
    addImages(model, textsOf(args, IMAGES), body, names);
    addMask(model, textOf(args, MASK), body, names);
    // If the model has no such field, the message uses the name that the agent knows.
    for (const { name, role } of model.mediaFields)
      if (body[name] === undefined) names[name] = role === "mask" ? MASK : IMAGES;
  }
  return { body, names };
}

type Body = Record<string, Json>;
type Names = Record<string, string>;

function addImages(model: Model, images: readonly string[] | undefined, body: Body, names: Names): void {
  if (images === undefined) return;
  const field = imageField(model, images.length);
  const [only] = images;
  if (field === undefined || only === undefined)
    throw invalid({ kind: "image_unused", field: IMAGES, model: model.id });
  refuseTwice(field, IMAGES, body);
  if (isList(model, field)) {
    body[field.name] = images;
    names[field.name] = IMAGES;
  } else if (images.length > 1) {
    throw invalid({ kind: "edits_one_image", field: IMAGES, model: model.id, given: images.length });
  } else {
    body[field.name] = only;
    names[field.name] = `${IMAGES}[0]`;
  }
}

function addMask(model: Model, mask: string | undefined, body: Body, names: Names): void {
  if (mask === undefined) return;
  const field = model.mediaFields.find(({ role }) => role === "mask");
  if (field === undefined) throw invalid({ kind: "image_unused", field: MASK, model: model.id });
  refuseTwice(field, MASK, body);
  body[field.name] = mask;
  names[field.name] = MASK;
}

function refuseTwice({ name }: MediaField, field: string, body: Body): void {
  if (body[name] !== undefined) throw invalid({ kind: "given_twice", field });
}

/** Runs what may find fault with a body, and words it for an agent, who has these names for our fields. */
export async function inAgentsWords<T>(
  names: Readonly<Record<string, string>>,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof AppError ? error.renamed(namesFrom(names)) : error;
  }
}
