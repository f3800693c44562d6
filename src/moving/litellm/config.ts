import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { readYaml, YamlError } from "../../toolkit/yaml.ts";
import { objectOf, textOf } from "../fields.ts";
import { UnreadableSource } from "../holdings.ts";
import { BASE_ENDINGS } from "../openai-env.ts";

const MAX_BYTES = 4_000_000;
const VARIABLE = "os.environ/";

/** A value of LiteLLM's configuration: as it stands there, or in a variable that it names. */
export type Referred =
  | { readonly kind: "literal"; readonly value: string }
  | { readonly kind: "variable"; readonly name: string };

/** One entry of `model_list`. */
export interface Deployment {
  /** What clients ask for. */
  readonly name: string;
  /** LiteLLM's own name for the provider, and the provider's for the model. */
  readonly provider: string | undefined;
  readonly model: string;
  readonly key: Referred | undefined;
  readonly baseUrl: Referred | undefined;
  /** `chat`, `image_generation` and so on, where it says. */
  readonly mode: string | undefined;
  readonly hasPace: boolean;
}

export interface LitellmConfig {
  readonly deployments: readonly Deployment[];
  readonly masterKey: Referred | undefined;
  /** Other names of `model_list`'s names. */
  readonly groupAliases: Readonly<Record<string, string>>;
  /** Files that it includes, which are not read. */
  readonly included: readonly string[];
}

/**
 * Reads a configuration of LiteLLM's proxy (https://docs.litellm.ai/docs/proxy/configs, read 2026-11).
 * @throws UnreadableSource with line and column. It quotes no value.
 */
export function readConfig(text: string, name: string): LitellmConfig {
  const root = parsed(text, name);
  const list = root.model_list ?? [];
  if (!Array.isArray(list))
    throw new UnreadableSource(`${name}: model_list must be a list. Is the file whole?`);
  const variables = objectOf(root.environment_variables);
  const credentials = credentialsIn(root.credential_list);
  const base = textOf(objectOf(root.litellm_settings).api_base);
  const deployments = list.map((entry, index) => {
    const where = `${name}: model_list[${index}]`;
    if (!isJsonObject(entry)) throw new UnreadableSource(`${where} must be a mapping. Is the file whole?`);
    return deploymentOf(entry, where, { variables, credentials, base });
  });
  const aliases = objectOf(objectOf(root.router_settings).model_group_alias);
  const general = objectOf(root.general_settings);
  return {
    deployments,
    masterKey: referred(general.master_key, variables),
    groupAliases: Object.fromEntries(
      Object.entries(aliases).flatMap(([alias, given]) => {
        const of = textOf(isJsonObject(given) ? given.model : given);
        return of === undefined ? [] : [[alias, of]];
      }),
    ),
    included: Array.isArray(root.include) ? root.include.map(String) : [],
  };
}

function parsed(text: string, name: string): JsonObject {
  try {
    const { value } = readYaml(text, { maxBytes: MAX_BYTES, isOfOthers: true });
    const isConfig = isJsonObject(value) && ("model_list" in value || "general_settings" in value);
    if (isConfig) return value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { line, column } = error.position;
    // What stands there may be a key.
    const why = error.isQuoting ? ". Is the file whole?" : `: ${error.message}.`;
    throw new UnreadableSource(`${name}:${line}:${column} is no YAML that can be read${why}`);
  }
  throw new UnreadableSource(`${name} is no configuration of LiteLLM: it has no model_list. Is it whole?`);
}

interface Around {
  readonly variables: JsonObject;
  readonly credentials: ReadonlyMap<string, JsonObject>;
  /** The address of every deployment that has none of its own. */
  readonly base: string | undefined;
}

function deploymentOf(entry: JsonObject, where: string, around: Around): Deployment {
  const { variables, credentials } = around;
  const given = objectOf(entry.litellm_params);
  const name = textOf(entry.model_name);
  const model = textOf(given.model);
  if (name === undefined) throw new UnreadableSource(`${where} has no model_name. Is the file whole?`);
  if (model === undefined)
    throw new UnreadableSource(`${where} has no litellm_params.model. Is the file whole?`);
  const named = credentials.get(textOf(given.litellm_credential_name) ?? "") ?? {};
  const parameters = { ...named, ...given };
  const slash = model.indexOf("/");
  const own = textOf(parameters.custom_llm_provider);
  const provider = own ?? (slash === -1 ? undefined : model.slice(0, slash));
  return {
    name,
    provider,
    model: own === undefined && slash !== -1 ? model.slice(slash + 1) : model,
    key: referred(parameters.api_key, variables),
    baseUrl: referred(baseOf(parameters, provider, around), variables),
    mode: textOf(objectOf(entry.model_info).mode),
    hasPace: ["rpm", "tpm"].some((field) => textOf(parameters[field]) !== undefined),
  };
}

/** The address that a deployment is used at; undefined for the provider's own. */
function baseOf(
  { api_base, base_url }: JsonObject,
  provider = "openai",
  { variables, base }: Omit<Around, "credentials">,
): string | undefined {
  const own = textOf(api_base) ?? textOf(base_url) ?? base;
  if (own !== undefined) return own;
  return BASE_ENDINGS.map((end) => textOf(variables[provider.toUpperCase() + end])).find(
    (each) => each !== undefined,
  );
}

function credentialsIn(list: unknown): ReadonlyMap<string, JsonObject> {
  const entries = Array.isArray(list) ? list.filter(isJsonObject) : [];
  return new Map(
    entries.map((entry) => [textOf(entry.credential_name) ?? "", objectOf(entry.credential_values)]),
  );
}

/** A variable that the configuration itself sets is a value of it. */
function referred(value: unknown, variables: JsonObject): Referred | undefined {
  const text = textOf(value)?.trim();
  if (text === undefined || text === "") return undefined;
  if (!text.startsWith(VARIABLE)) return { kind: "literal", value: text };
  const name = text.slice(VARIABLE.length);
  const set = textOf(variables[name]);
  return set === undefined || set.startsWith(VARIABLE)
    ? { kind: "variable", name }
    : { kind: "literal", value: set };
}
