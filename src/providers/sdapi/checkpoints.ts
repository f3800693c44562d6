import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { Route } from "../../domain/model/model.ts";
import { suggest } from "../../domain/suggest.ts";
import type { UpstreamAnswer } from "../kit/answer.ts";
import type { Upstream } from "../kit/http.ts";
import type { Refusal } from "../kit/refusal.ts";
import { textIn } from "../kit/said.ts";

/** The `upstream_model` of a route that takes whatever checkpoint is loaded. */
const CURRENT = "current";

/** A checkpoint as a server lists it. */
interface Checkpoint {
  /** `v1-5.safetensors [6ce0161689]` */
  readonly title: string;
  /** What it may be called by: title, name, file, hashes. */
  readonly names: ReadonlySet<string>;
}

export interface Checkpoints {
  /**
   * What the server calls the checkpoint, or why it cannot use it: it would leave out one that it does not have, without a word, and
   * use another. Undefined for whatever is loaded. @throws NoAnswer
   */
  resolve(name: string, signal: AbortSignal): Promise<string | Refusal | undefined>;
  /** What is wrong with the checkpoint, for the operator. @throws ProviderError, NoAnswer without an answer */
  lack(name: string, signal: AbortSignal): Promise<string | undefined>;
  /** Whether a picture was made with it, by what its answer says; true where that says nothing. */
  isUsed(name: string, info: JsonObject): boolean;
}

const LIST_BYTES = 16 * 1024 * 1024;
/** One that the list had lately is not looked up again. */
const KNOWN_MS = 60_000;
const LIST = "/sdapi/v1/sd-models";

/**
 * What a route has the server load: its checkpoint, and on Forge the text encoders and VAE that go with it. Undefined where it takes
 * whatever is loaded.
 */
export function setupOf({
  upstreamModel,
  wording,
}: Pick<Route, "upstreamModel" | "wording">): string | undefined {
  const given = wording?.constants?.override_settings;
  const { sd_model_checkpoint: named, forge_additional_modules: modules } = isJsonObject(given) ? given : {};
  const checkpoint = textIn(named) ?? upstreamModel;
  const more = Array.isArray(modules) ? modules.flatMap((each) => textIn(each) ?? []) : [];
  const parts = checkpoint === CURRENT ? more : [checkpoint, ...more];
  return parts.length === 0 ? undefined : parts.join(" + ");
}

export function createCheckpoints(upstream: Upstream): Checkpoints {
  const { clock } = upstream;
  let latest: { readonly list: readonly Checkpoint[]; readonly untilMs: number } | undefined;

  async function ask(signal: AbortSignal) {
    const answer = await upstream.send({ method: "GET", url: LIST, maxBytes: LIST_BYTES }, signal);
    const list = readList(answer);
    if (list !== undefined) latest = { list, untilMs: clock.elapsed() + KNOWN_MS };
    return list;
  }

  return {
    async resolve(name, signal) {
      if (name === CURRENT) return undefined;
      const isFresh = latest !== undefined && clock.elapsed() < latest.untilMs;
      const known = isFresh ? find(latest?.list ?? [], name) : undefined;
      if (known !== undefined) return known.title;
      const list = await ask(signal);
      // Where it tells none, its answer says which one it has used.
      if (list === undefined) return name;
      const found = find(list, name);
      if (found !== undefined) return found.title;
      const detail = upstream.scrub(`${upstream.name}: ${missing(name, list)}`);
      return { meaning: "refused", detail, status: 404 };
    },
    async lack(name, signal) {
      if (name === CURRENT) return undefined;
      const list = (await ask(signal)) ?? [];
      return find(list, name) ? undefined : upstream.scrub(missing(name, list));
    },
    isUsed(name, info) {
      const used = [info.sd_model_name, info.sd_model_hash].flatMap((each) => textIn(each) ?? []);
      if (name === CURRENT || used.length === 0) return true;
      const wanted = find(latest?.list ?? [], name)?.names ?? namesOf(name);
      return used.some((each) => wanted.has(each));
    },
  };
}

function missing(name: string, list: readonly Checkpoint[]): string {
  // A name may be without the ending of its file.
  const files = new Map(
    list.flatMap(({ title }) => [
      [plain(title), plain(title)],
      [plain(title).replace(/\.\w+$/, ""), plain(title)],
    ]),
  );
  const near = files.get(suggest(name, [...files.keys()]) ?? "");
  const hint = list.length === 0 ? "; it has none" : near === undefined ? "" : `; did you mean ${near}?`;
  return `there is no checkpoint ${name}${hint}`;
}

function find(list: readonly Checkpoint[], name: string): Checkpoint | undefined {
  return list.find(({ names }) => names.has(name));
}

function readList({ status, json }: UpstreamAnswer): readonly Checkpoint[] | undefined {
  if (status !== 200 || !Array.isArray(json)) return undefined;
  return json.filter(isJsonObject).flatMap((entry) => {
    const title = textIn(entry.title);
    if (title === undefined) return [];
    const more = [entry.model_name, entry.hash, shortHash(entry.sha256), baseName(entry.filename)];
    const names = [...namesOf(title), ...more.flatMap((each) => textIn(each) ?? [])];
    return [{ title, names: new Set(names) }];
  });
}

/** `xl/base.safetensors [31e35c80fc]` is called by its file and its hash too. */
function namesOf(title: string): ReadonlySet<string> {
  const file = plain(title);
  const hash = /\[([^\]]+)\]$/.exec(title)?.[1];
  const short = baseName(file) ?? file;
  return new Set([
    title,
    file,
    short,
    short.replace(/\.\w+$/, ""),
    file.replace(/\.\w+$/, ""),
    hash ?? title,
  ]);
}

function plain(title: string): string {
  return title.replace(/\s*\[[^\]]+\]$/, "");
}

function baseName(path: Json | undefined): string | undefined {
  return typeof path === "string" ? /[^\\/]+$/.exec(path)?.[0] : undefined;
}

function shortHash(hash: Json | undefined): string | null {
  return typeof hash === "string" ? hash.slice(0, 10) : null;
}
