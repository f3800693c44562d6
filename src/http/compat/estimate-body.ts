import type { JsonObject } from "../../domain/json.ts";
import { fromCompat } from "../../service/compat-request.ts";
import { ESTIMATE_ENDPOINTS, type EstimateBody, type EstimateEndpoint } from "../../service/estimate.ts";
import type { OfferedModel } from "../../service/model-fields.ts";
import { readEdit, readGeneration } from "./read-request.ts";

/** A stand-in that is accepted as any prompt and as any address of an image. */
const STAND_IN = "x:";

/**
 * Translates a request of any endpoint into a model's create body, for estimates. Prompt and images may be missing.
 * @throws AppError like the endpoint itself
 */
export function toEstimateBody(
  endpoint: EstimateEndpoint,
  offered: OfferedModel,
  request: JsonObject,
): EstimateBody {
  if (!ESTIMATE_ENDPOINTS[endpoint].isCompat) return { body: request, names: {} };
  const isEdit = endpoint === "/compat/v1/images/edits";
  const lacks = (name: string) => (request[name] ?? null) === null;
  const lacksImage = isEdit && lacks("image") && lacks("images");
  const whole: JsonObject = {
    ...request,
    ...(lacks("prompt") ? { prompt: STAND_IN } : {}),
    ...(lacksImage ? { image: STAND_IN } : {}),
  };
  const read = isEdit ? readEdit(whole) : readGeneration(whole);
  const { body, names } = fromCompat(offered, read.request);
  const { prompt: _prompt, ...withoutPrompt } = body;
  return { body: lacks("prompt") ? withoutPrompt : body, names, missing: lacksImage ? ["image"] : [] };
}
