import type { ModelId } from "../domain/ids.ts";
import { isJsonObject } from "../domain/json.ts";
import { type Parser, withSchema } from "../toolkit/settings/parsers.ts";

const ALIAS = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/;

/** Takes other names for models: a mapping in the settings file; `name=model`, repeated or separated by commas, elsewhere. */
export const aliases: Parser<Readonly<Record<string, ModelId>>> = withSchema(
  {
    type: "object",
    propertyNames: { pattern: ALIAS.source },
    additionalProperties: { type: "string", pattern: ALIAS.source },
  },
  (raw) => {
    const pairs: Pair[] = isJsonObject(raw)
      ? Object.entries(raw).map(([name, model]) => [name, model, `${name}: ${JSON.stringify(model)}`])
      : [raw]
          .flat(1)
          .flatMap((each) => (typeof each === "string" ? each.split(",").map(pair) : [other(each)]));
    const found: Record<string, ModelId> = {};
    for (const [name, model, given] of pairs) {
      const isAlias = [name, model].every((each) => typeof each === "string" && ALIAS.test(each));
      if (!isAlias) return { ok: false, expected: `${EXPECTED} (${given} is not one)` };
      // A request for the alias finds out whether the model exists.
      found[String(name)] = String(model) as ModelId;
    }
    return { ok: true, value: found };
  },
);

const EXPECTED =
  "names and the models they stand for: gpt-image-1: sandbox-image in svc.yaml, gpt-image-1=sandbox-image elsewhere";

/** A name, a model, and how they were written. */
type Pair = [name: unknown, model: unknown, given: string];

function pair(text: string): Pair {
  const at = text.indexOf("=");
  return [text.slice(0, Math.max(at, 0)).trim(), text.slice(at + 1).trim(), JSON.stringify(text)];
}

const other = (each: unknown): Pair => [each, "", JSON.stringify(each)];
