import type { Principal } from "../../../domain/access/account.ts";
import { mustBe } from "../../../domain/errors.ts";
import type { Json } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import { listModels, type ModelDeps } from "../../../service/read-model.ts";
import { isEnlarging } from "../enlarging.ts";

/** Models that make a picture larger. */
export function listUpscalers(deps: ModelDeps, principal: Principal): Model[] {
  return listModels(deps, principal).filter(isEnlarging);
}

/** The one that a client names. @throws AppError naming the field, for `None` too: nothing here makes a picture larger without a model */
export function upscalerNamed(
  deps: ModelDeps,
  principal: Principal,
  field: string,
  name: Json | undefined,
): Model {
  const upscalers = listUpscalers(deps, principal);
  const found = upscalers.find(({ id }) => id === name);
  if (found !== undefined) return found;
  const must =
    upscalers.length === 0
      ? { rule: "be a model that makes pictures larger, of which this key may use none at present" }
      : { oneOf: upscalers.map(({ id }) => id) };
  throw mustBe(field, must, { json: name ?? null });
}
