import { mustBe } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import type { Model } from "../../../domain/model/model.ts";
import { ENLARGING_PROMPT, factorField, isEnlarging } from "../enlarging.ts";
import { type Member, memberOf, objectOf } from "./members.ts";
import { addOwn, labelOf, put, unchoosable, type Wanted } from "./parameters.ts";

/** A request to make a picture larger. */
export interface Enlarging {
  /** That API has none, and some models want one. */
  readonly prompt: string;
  /** The factor, where the model decides by itself how large its picture becomes. */
  readonly unmet?: string | undefined;
}

const OF_CONFIG = new Set(["upscaleFactor"]);
const NONE: ReadonlySet<string> = new Set();

/**
 * Reads `mode: "upscale"` and `upscaleConfig`, as `upscaleImage` of that API's clients sends them. What the config has besides the factor
 * goes to the model's fields of the same names.
 * @returns undefined where nothing is to become larger
 * @throws AppError naming what the model cannot do
 */
export function addEnlarging(
  model: Model,
  to: Wanted,
  parameters: JsonObject,
  at: string,
): Enlarging | undefined {
  const mode = memberOf(parameters, "mode", at);
  const config = objectOf(parameters, "upscaleConfig", at);
  if (mode === undefined && config === undefined) return undefined;
  if (mode !== undefined && labelOf(mode) !== "upscale") throw unchoosable(model, mode);
  const asking: Member = mode ?? { value: config?.value ?? {}, path: config?.path ?? at };
  if (!isEnlarging(model)) throw unchoosable(model, asking);
  const factor = config && memberOf(config.value, "upscaleFactor", config.path);
  const field = factorField(model);
  if (factor !== undefined && field !== undefined) put(to, field, asNumber(factor));
  if (config !== undefined)
    addOwn(model, to, config.value, { at: config.path, known: OF_CONFIG, ignored: NONE });
  for (const [name, value] of Object.entries(model.followUps?.upscale ?? {}))
    if (value !== undefined && to.body[name] === undefined) put(to, name, { value, path: asking.path });
  const isUnmet = factor !== undefined && field === undefined;
  return { prompt: ENLARGING_PROMPT, unmet: isUnmet ? "upscaleFactor" : undefined };
}

/** `x2`, or 2. */
function asNumber(factor: Member): Member {
  const [, digits] = /^x?([1-9]\d?)$/.exec(labelOf(factor)) ?? [];
  if (digits === undefined)
    throw mustBe(factor.path, { rule: 'be a factor such as "x2"' }, { json: factor.value });
  return { ...factor, value: Number(digits) };
}
