import type { Model } from "../../domain/model/model.ts";
import { propertyOf } from "../../service/model-fields.ts";

/* What other APIs ask of models that make a picture larger. */

/** Whether a model makes pictures larger. */
export const isEnlarging = ({ kind, followUps }: Model) =>
  kind === "image" && followUps?.upscale !== undefined;

/** For models that want a prompt, where an API has none. */
export const ENLARGING_PROMPT = "A sharp and detailed picture";

/** What models call the factor by which a picture becomes larger. */
const FACTORS = ["upscaling_resize", "factor", "upscale_factor", "scale_factor", "scale"];

/** The model's own field for that factor; undefined where it has none. */
export const factorField = (model: Model) => FACTORS.find((name) => propertyOf(model, name) !== undefined);
