import { isJsonObject, type Json } from "../domain/json.ts";
import { textIn } from "./kit/said.ts";

/** Asks a server for JSON; undefined for anything that is not a success with JSON in time. */
export type Ask = (path: string) => Promise<Json | undefined>;

/** What a server was found to be. */
export interface Found {
  readonly engine: string;
  /** The provider that reaches it. */
  readonly provider: string;
  /** Below the server's address. */
  readonly path: string;
  /** What has to be set besides its address. */
  readonly also?: string | undefined;
  readonly models: readonly string[];
}

const MOST_MODELS = 200;
const LONGEST_NAME = 200;

/**
 * Identifies a server by what only it publishes, never by its port. Servers that also speak another server's API come first.
 *
 * @returns undefined for what is no engine that is known
 */
export async function identify(ask: Ask): Promise<Found | undefined> {
  // Where nothing answers, one question is enough.
  const models = await ask("/v1/models");
  const others = await Promise.all(OWN.map(({ path }) => ask(path)));
  const ids = listed(isJsonObject(models) ? models.data : undefined, "id");
  for (const [i, own] of OWN.entries()) {
    const names = own.read(others[i], ids);
    if (names === undefined) continue;
    const more = own.more === undefined ? names : ((await own.more(ask)) ?? names);
    return { engine: own.engine, ...own.reached, models: more.slice(0, MOST_MODELS) };
  }
  if (!isJsonObject(models) || !Array.isArray(models.data) || models.object !== "list") return undefined;
  return { engine: serverOf(models.data), ...OPENAI, models: ids.slice(0, MOST_MODELS) };
}

interface Own {
  readonly engine: string;
  readonly reached: Omit<Found, "engine" | "models">;
  readonly path: string;
  /** The models of a server whose answer this is; undefined for any other answer. @param ids of its OpenAI-shaped list */
  read(answer: Json | undefined, ids: readonly string[]): readonly string[] | undefined;
  more?(ask: Ask): Promise<readonly string[] | undefined>;
}

const OPENAI = { provider: "openai", path: "/v1", also: "OPENAI_API_KEY=none" } as const;

/** The title of the document that another instance publishes. Its models are for those who have a key. */
const SVC_TITLE = "Media generation service";

const OWN: readonly Own[] = [
  {
    engine: "stable-diffusion.cpp",
    reached: { provider: "sdcpp", path: "" },
    path: "/sdcpp/v1/capabilities",
    read: (answer, ids) =>
      isJsonObject(answer) && (Array.isArray(answer.supported_modes) || isJsonObject(answer.features_by_mode))
        ? ids
        : undefined,
  },
  {
    engine: "ComfyUI",
    reached: { provider: "comfyui", path: "" },
    path: "/system_stats",
    read: (answer) =>
      isJsonObject(answer) && isJsonObject(answer.system) && Array.isArray(answer.devices) ? [] : undefined,
    more: async (ask) => {
      const names = await ask("/models/checkpoints");
      return Array.isArray(names) ? names.flatMap((name) => shown(name)) : undefined;
    },
  },
  {
    engine: "Stable Diffusion web UI",
    reached: { provider: "sdapi", path: "" },
    path: "/sdapi/v1/sd-models",
    read: (answer) =>
      Array.isArray(answer) &&
      answer.every((each) => isJsonObject(each) && "title" in each && "model_name" in each)
        ? listed(answer, "title")
        : undefined,
  },
  {
    engine: "svc",
    reached: { provider: "svc", path: "", also: "SVC_UPSTREAM_API_KEY=<a key of it>" },
    path: "/openapi.json",
    read: (answer) =>
      isJsonObject(answer) && isJsonObject(answer.info) && answer.info.title === SVC_TITLE ? [] : undefined,
  },
  {
    engine: "LocalAI",
    reached: OPENAI,
    path: "/v1/models/capabilities",
    read: (answer) => {
      const list = isJsonObject(answer) && Array.isArray(answer.data) ? answer.data : undefined;
      const isTheirs = list?.every((each) => isJsonObject(each) && Array.isArray(each.capabilities)) === true;
      return isTheirs ? listed(list, "id") : undefined;
    },
  },
  {
    engine: "Ollama",
    reached: OPENAI,
    path: "/api/tags",
    read: (answer) =>
      isJsonObject(answer) && Array.isArray(answer.models) ? listed(answer.models, "name") : undefined,
  },
];

/** What serves a list of models, by whom it names as their owner. */
function serverOf(list: readonly Json[]): string {
  const owners = new Set(list.map((each) => (isJsonObject(each) ? each.owned_by : undefined)));
  return owners.has("vllm") ? "vLLM" : "OpenAI-shaped server";
}

function listed(list: Json | undefined, name: string): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((each) => (isJsonObject(each) ? shown(each[name]) : []));
}

function shown(value: Json | undefined): string[] {
  const text = textIn(value);
  return text === undefined ? [] : [text.slice(0, LONGEST_NAME).toWellFormed()];
}
