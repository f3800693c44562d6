import type { ModelId } from "../../domain/ids.ts";
import { integerOf, objectOf, type Row, splitList, textOf } from "../fields.ts";
import type { HeldProviderKey, LeftBehind } from "../holdings.ts";
import type { FindModel } from "../models.ts";
import { accountNameFrom, nameOf } from "../names.ts";
import type { ChannelType } from "../providers.ts";
import { USUAL_GROUP } from "./groups.ts";

const ENABLED = 1;
/** By whom it was switched off: nobody knows, an operator, the gateway. */
const OFF = [0, 2, 3];
const OFF_THERE = "it is switched off there";

export interface ChannelDeps {
  readonly types: Readonly<Record<number, ChannelType>>;
  readonly find: FindModel;
  /** Their names that the operator says what they stand for. */
  readonly mapped: ReadonlyMap<string, ModelId>;
}

export interface MovedChannels {
  readonly models: ReadonlyMap<string, ModelId>;
  /** The models that the members of a group may ask for. */
  readonly modelsOf: (group: string) => ReadonlyMap<string, ModelId>;
  readonly providerKeys: readonly HeldProviderKey[];
  readonly left: readonly LeftBehind[];
}

/** What one channel brings. */
type MovedChannel = Omit<MovedChannels, "modelsOf">;

/**
 * Channels as accounts of providers, and the names of models that they bring. Where several have a model, the name means what it does
 * at the one that is asked first there.
 */
export function moveChannels(channels: readonly Row[], deps: ChannelDeps): MovedChannels {
  const inOrder = channels.toSorted((a, b) => priorityOf(b) - priorityOf(a));
  const each = new Map(inOrder.map((channel) => [channel, moveChannel(channel, deps)]));
  const modelsOf = (isMeant: (channel: Row) => boolean) => {
    const models = new Map<string, ModelId>();
    for (const [channel, moved] of each) {
      if (!isMeant(channel)) continue;
      for (const [name, id] of moved.models) if (!models.has(name)) models.set(name, id);
    }
    return models;
  };
  const moved = channels.flatMap((channel) => each.get(channel) ?? []);
  return {
    models: modelsOf(() => true),
    modelsOf: (group) => modelsOf((channel) => isOf(channel, group)),
    providerKeys: moved.flatMap(({ providerKeys }) => providerKeys),
    left: moved.flatMap(({ left }) => left),
  };
}

const priorityOf = ({ priority }: Row) => integerOf(priority) ?? 0;

/** Whether a channel is for a group. The first versions had no groups. */
function isOf(channel: Row, group: string): boolean {
  return channel.group === undefined || splitList(textOf(channel.group) ?? USUAL_GROUP).includes(group);
}

function moveChannel(channel: Row, { types, find, mapped }: ChannelDeps): MovedChannel {
  const id = textOf(channel.id) ?? "?";
  const type = types[integerOf(channel.type) ?? 0];
  const from = `channel ${id} (${nameOf(channel.name, type?.title ?? "unnamed")})`;
  const none = (why: string): MovedChannel => ({
    ...{ models: new Map(), providerKeys: [] },
    left: [{ kind: "provider_key", from, why }],
  });
  const status = integerOf(channel.status);
  if (status !== ENABLED)
    return none(OFF.includes(status ?? -1) ? OFF_THERE : "its status is none that a known version has");
  const provider = type?.provider;
  const models = modelsIn(
    channel,
    (name, upstream) => mapped.get(name) ?? (provider && find(provider, upstream)),
  );
  if (models.size === 0 && (provider !== undefined || mediaOf(channel).length === 0))
    return none(whyNone(channel));
  if (provider === undefined)
    return {
      ...none(
        `there is no provider here that is ${type?.title ?? `of type ${textOf(channel.type) ?? "none"}`}`,
      ),
      models,
    };
  const keys = keysOf(textOf(channel.key) ?? "");
  if (keys.length === 0) return { ...none("it has no key"), models };
  const base = textOf(channel.base_url) ?? type?.baseUrl;
  const name = accountNameFrom(textOf(channel.name) ?? "", `channel-${id}`);
  const isOn = switchesOf(channel);
  const fromOf = (number: number) => (keys.length === 1 ? from : `${from}, key ${number}`);
  const providerKeys = keys.flatMap(({ key, index }, at): HeldProviderKey[] => {
    if (!isOn(index)) return [];
    const account = keys.length === 1 ? name : `${name}-${at + 1}`;
    return [{ provider, name: account, secrets: key.split("|"), from: fromOf(at + 1), baseUrl: base }];
  });
  const off = keys.flatMap(({ index }, at): LeftBehind[] =>
    isOn(index) ? [] : [{ kind: "provider_key", from: fromOf(at + 1), why: OFF_THERE }],
  );
  return { models, providerKeys, left: off };
}

/** Names of models that make pictures or videos. */
const MEDIA =
  /image|imagine|imagen|video|flux|dall-e|sora|veo|diffusion|recraft|seedream|seedance|kling|wan\d/i;
/** Most names that a reason tells. */
const NAMED = 3;

const mediaOf = (channel: Row) => splitList(textOf(channel.models) ?? "").filter((name) => MEDIA.test(name));

/** Why nothing of a channel's models is here. */
function whyNone(channel: Row): string {
  const media = mediaOf(channel);
  if (media.length === 0)
    return "this service has no models of it: it makes images and videos, and nothing else";
  const more = media.length > NAMED ? " and others" : "";
  return `no model here has a route to ${media.slice(0, NAMED).join(", ")}${more}; --map says which one to take`;
}

/** The names of a channel's models that are here. @param find by its name for clients, and the one for the provider */
function modelsIn(
  channel: Row,
  find: (name: string, upstream: string) => ModelId | undefined,
): ReadonlyMap<string, ModelId> {
  const renamed = objectOf(channel.model_mapping);
  const names = splitList(textOf(channel.models) ?? "");
  return new Map(
    names.flatMap((name): [string, ModelId][] => {
      const found = find(name, textOf(renamed[name]) ?? name);
      return found === undefined ? [] : [[name, found]];
    }),
  );
}

/** Whether a key of a channel is on, by its place: new-api notes those that were switched off, by an operator or by itself. */
function switchesOf(channel: Row): (index: number) => boolean {
  const statuses = objectOf(objectOf(channel.channel_info).multi_key_status_list);
  return (index) => (integerOf(statuses[index]) ?? ENABLED) === ENABLED;
}

/** A channel may have several keys, one on each line. Empty lines between them count for their places. */
function keysOf(text: string): readonly { readonly key: string; readonly index: number }[] {
  return text
    .replace(/^\n+/, "")
    .split("\n")
    .map((line, index) => ({ key: line.trim(), index }))
    .filter(({ key }) => key !== "");
}
