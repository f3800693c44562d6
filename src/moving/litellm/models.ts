import type { ModelId } from "../../domain/ids.ts";
import type { HeldProviderKey, LeftBehind } from "../holdings.ts";
import type { FindModel, NamesAt } from "../models.ts";
import { accountNameFrom } from "../names.ts";
import { LITELLM_PROVIDERS } from "../providers.ts";
import type { Deployment, LitellmConfig } from "./config.ts";

export interface MovedModels {
  /** Their names of models that are here, and what they stand for; also those that are called the same. */
  readonly models: ReadonlyMap<string, ModelId>;
  readonly providerKeys: readonly HeldProviderKey[];
  readonly left: readonly LeftBehind[];
}

export interface ModelDeps {
  readonly find: FindModel;
  readonly namesAt: NamesAt;
  /** Their names that the operator says what they stand for. */
  readonly mapped: ReadonlyMap<string, ModelId>;
  /** The variable that customarily holds a provider's key. */
  readonly customary: (provider: string) => string | undefined;
}

/** What becomes of `model_list`. @param others names of models whose settings cannot be read */
export function moveModels(config: LitellmConfig, others: readonly string[], deps: ModelDeps): MovedModels {
  const models = new Map<string, ModelId>();
  const left: LeftBehind[] = [];
  const keys = new Map<string, HeldProviderKey>();
  for (const deployment of config.deployments) {
    const { name } = deployment;
    const several = modelsLike(deployment, deps);
    if (several.length > 0) {
      for (const [each, id] of several) if (!models.has(each)) models.set(each, id);
      keepKey(deployment, { keys, left, customary: deps.customary });
      continue;
    }
    const found = modelOf(deployment, deps);
    if (found === undefined) {
      if (!models.has(name)) left.push({ kind: "model", from: labelOf(deployment), why: whyNot(deployment) });
      continue;
    }
    if (!models.has(name)) models.set(name, found);
    keepKey(deployment, { keys, left, customary: deps.customary });
    if (deployment.hasPace) {
      const why = "limits of a deployment are not read; set submits_per_minute of the account in svc.yaml";
      left.push({ kind: "setting", from: `rpm/tpm of ${labelOf(deployment)}`, why });
    }
  }
  for (const name of others) {
    const told = deps.mapped.get(name);
    if (told !== undefined) models.set(name, told);
    else if (!config.deployments.some((each) => each.name === name))
      left.push({
        kind: "model",
        from: name,
        why: "its settings are encrypted in the database; --map says what it is here",
      });
  }
  for (const [alias, of] of Object.entries(config.groupAliases)) {
    const found = models.get(of);
    if (found !== undefined && !models.has(alias)) models.set(alias, found);
  }
  for (const file of config.included)
    left.push({
      kind: "setting",
      from: `include ${file}`,
      why: "included files are not read; import each by itself",
    });
  return { models, providerKeys: [...keys.values()], left: withoutRepeats(left) };
}

function modelOf(
  { name, provider, model }: Deployment,
  { find, mapped }: Pick<ModelDeps, "find" | "mapped">,
): ModelId | undefined {
  const told = mapped.get(name);
  if (told !== undefined) return told;
  // Without a prefix LiteLLM finds the provider by the model; pictures and videos without one are OpenAI's.
  const ours = LITELLM_PROVIDERS[provider ?? "openai"];
  return ours === undefined ? undefined : find(ours, model);
}

/** LiteLLM's sign for any text in a name, which stands for the same in the provider's. */
const ANY = "*";

/** What a name with a star stands for: each model that the provider makes here. */
function modelsLike(
  { name, provider, model }: Deployment,
  { namesAt, mapped }: Pick<ModelDeps, "namesAt" | "mapped">,
): readonly (readonly [string, ModelId])[] {
  const ours = LITELLM_PROVIDERS[provider ?? ""];
  if (ours === undefined || model !== ANY || !name.includes(ANY)) return [];
  return namesAt(ours).map(([upstream, id]) => {
    const each = name.replace(ANY, () => upstream);
    return [each, mapped.get(each) ?? id];
  });
}

const MEDIA = /image|video/;

function whyNot({ name, provider = "openai", mode, model }: Deployment): string {
  if (name.includes(ANY))
    return "its star stands for models that are not known here; --map says what each name is";
  if (mode !== undefined && !MEDIA.test(mode))
    return "this service makes images and videos, and nothing else";
  const isMedia =
    mode !== undefined || /image|video|flux|dall-e|sora|imagen|veo|diffusion|recraft/i.test(model);
  if (!isMedia) return "this service makes images and videos, and nothing else";
  if (LITELLM_PROVIDERS[provider] === undefined)
    return `there is no provider here that is LiteLLM's ${provider}`;
  return "no model here has a route to it; --map says which one to take";
}

function labelOf({ name, provider, model }: Deployment): string {
  const full = provider === undefined ? model : `${provider}/${model}`;
  return name === full ? name : `${name} (${full})`;
}

function keepKey(
  { provider = "openai", key, baseUrl, name }: Deployment,
  around: {
    readonly keys: Map<string, HeldProviderKey>;
    readonly left: LeftBehind[];
    readonly customary: (provider: string) => string | undefined;
  },
): void {
  const ours = LITELLM_PROVIDERS[provider];
  if (ours === undefined || key === undefined) return;
  const kind = "provider_key";
  if (baseUrl?.kind === "variable") {
    const why = `its address is in ${baseUrl.name}; set base_url of an account of ${ours} in svc.yaml`;
    around.left.push({ kind, from: `api_base of ${name}`, why });
    return;
  }
  if (key.kind === "variable") {
    const usual = around.customary(ours);
    const how =
      usual === key.name
        ? `set ${key.name} where the server runs`
        : `set ${usual ?? "the key"} where the server runs to what ${key.name} holds, or name it as key_env of an account of ${ours} in svc.yaml`;
    around.left.push({ kind, from: `variable ${key.name} (${ours})`, why: how });
    return;
  }
  // The same key, at the same address, is one account however many models use it.
  const at = `${ours} ${key.value} ${baseUrl?.value ?? ""}`;
  if (around.keys.has(at)) return;
  const from = `api_key of ${name}`;
  const account = accountNameFrom(`litellm-${name}`, "litellm");
  around.keys.set(at, { provider: ours, name: account, secrets: [key.value], from, baseUrl: baseUrl?.value });
}

function withoutRepeats(left: readonly LeftBehind[]): LeftBehind[] {
  return [...new Map(left.map((each) => [`${each.kind} ${each.from} ${each.why}`, each])).values()];
}
