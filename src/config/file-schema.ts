import type { JsonObject } from "../domain/json.ts";
import { listSettings, type Setting } from "../toolkit/settings/setting.ts";
import { accountSchema } from "./accounts/entry.ts";
import { accountProvider, accountsKey, hasAccounts } from "./accounts/provider.ts";
import { ALERTS_SCHEMA } from "./alerts/alerts.ts";
import { MODERATION_SCHEMA } from "./moderation/schema.ts";
import type { Settings } from "./settings.ts";
import { ALERTS, MODERATION, PRICING } from "./settings-file.ts";

/** A mapping of a JSON Schema that is being made. */
interface Mapping {
  readonly type: "object";
  readonly additionalProperties: boolean | JsonObject;
  readonly properties: Record<string, Mapping | JsonObject>;
}

/** The parts that other rooms know the form of. */
export interface SchemaParts {
  /** Of one model's price. */
  readonly price: JsonObject;
  /** What that refers to. */
  readonly definitions: JsonObject;
}

/** The JSON Schema (2020-12) of a settings file, for editors. The service takes a few spellings besides, such as a number in quotes. */
export function fileSchema(settings: Settings, { price, definitions }: SchemaParts): JsonObject {
  const root = mapping(false);
  for (const setting of listSettings(settings)) place(root, setting.key, leafOf(setting));
  for (const [id, table] of Object.entries(settings.providers)) {
    const provider = accountProvider({ id }, table);
    if (hasAccounts(provider))
      place(root, accountsKey(id), {
        type: "array",
        items: accountSchema(),
        description: "several accounts of this provider; no key belongs into this file",
      });
  }
  place(root, PRICING, {
    type: "object",
    additionalProperties: price,
    description: "prices by model, in place of their own",
  });
  place(root, MODERATION, MODERATION_SCHEMA);
  place(root, ALERTS, ALERTS_SCHEMA);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Settings of svc (svc.yaml)",
    ...root,
    $defs: definitions,
  } as JsonObject;
}

function mapping(additionalProperties: Mapping["additionalProperties"]): Mapping {
  return { type: "object", additionalProperties, properties: {} };
}

/** A data folder may describe providers of its own, whose settings only it knows. */
function place(root: Mapping, key: string, schema: JsonObject): void {
  const steps = key.split(".");
  let at = root;
  for (const step of steps.slice(0, -1)) {
    at.properties[step] ??= mapping(step === "providers" ? { type: "object" } : false);
    // Made above: no setting has a name that another one's key goes through.
    at = at.properties[step] as Mapping;
  }
  at.properties[steps.at(-1) ?? key] = schema;
}

function leafOf({ help, parse, fallback, isSecret }: Setting<unknown>): JsonObject {
  const standard =
    fallback === undefined || isSecret === true ? undefined : (parse.toFile?.(fallback) ?? fallback);
  // Schemas of parsers and defaults in their file form are JSON.
  return {
    ...parse.schema,
    description: help,
    ...(standard !== undefined && { default: standard }),
  } as JsonObject;
}
