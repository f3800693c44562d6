import type { ModelId } from "../../domain/ids.ts";
import { integerOf, objectOf, type Row, splitList, textOf } from "../fields.ts";
import type { HeldProviderKey, LeftBehind } from "../holdings.ts";
import type { FindModel } from "../models.ts";
import { accountNameFrom, nameOf } from "../names.ts";
import type { ChannelType } from "../providers.ts";

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
  readonly providerKeys: readonly HeldProviderKey[];
  readonly left: readonly LeftBehind[];
}

/** Channels as accounts of providers, and the names of models that they bring. */
export function moveChannels(channels: readonly Row[], deps: ChannelDeps): MovedChannels {
  const models = new Map<string, ModelId>();
  const providerKeys: HeldProviderKey[] = [];
  const left: LeftBehind[] = [];
  for (const channel of channels) {
    const moved = moveChannel(channel, deps);
    for (const [name, id] of moved.models) if (!models.has(name)) models.set(name, id);
    providerKeys.push(...moved.providerKeys);
    left.push(...moved.left);
  }
  return { models, providerKeys, left };
}

function moveChannel(channel: Row, { types, find, mapped }: ChannelDeps): MovedChannels {
  const id = textOf(channel.id) ?? "?";
  const type = types[integerOf(channel.type) ?? 0];
  const from = `channel ${id} (${nameOf(channel.name, type?.title ?? "unnamed")})`;
  const none = (why: string): MovedChannels => ({
    ...{ models: new Map(), providerKeys: [] },
    left: [{ kind: "provider_key", from, why }],
  });
  const status = integerOf(channel.status);
  if (status !== ENABLED)
    return none(OFF.includes(status ?? -1) ? OFF_THERE : "its status is none that a known version has");
  const provider = type?.provider;
  const renamed = objectOf(channel.model_mapping);
  const models = new Map<string, ModelId>();
  for (const name of splitList(textOf(channel.models) ?? "")) {
    const upstream = textOf(renamed[name]) ?? name;
    const found = mapped.get(name) ?? (provider && find(provider, upstream));
    if (found !== undefined) models.set(name, found);
  }
  const isNone = "this service has no models of it: it makes images and videos, and nothing else";
  if (models.size === 0) return none(isNone);
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
  const providerKeys = keys.flatMap((key, index): HeldProviderKey[] => {
    if (!isOn(index)) return [];
    const which = keys.length === 1 ? "" : `, key ${index + 1}`;
    const account = keys.length === 1 ? name : `${name}-${index + 1}`;
    return [{ provider, name: account, secrets: key.split("|"), from: `${from}${which}`, baseUrl: base }];
  });
  const off = keys.flatMap((_, index): LeftBehind[] =>
    isOn(index) ? [] : [{ kind: "provider_key", from: `${from}, key ${index + 1}`, why: OFF_THERE }],
  );
  return { models, providerKeys, left: off };
}

/** Whether a key of a channel is on, by its place: new-api notes those that were switched off, by an operator or by itself. */
function switchesOf(channel: Row): (index: number) => boolean {
  const statuses = objectOf(objectOf(channel.channel_info).multi_key_status_list);
  return (index) => (integerOf(statuses[index]) ?? ENABLED) === ENABLED;
}

/** A channel may have several keys, one on each line. */
function keysOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
