import { canonicalJson } from "../canonical-json.ts";
import type { JsonObject } from "../json.ts";
import type { Act, Actor } from "./actor.ts";

/*
 * The trail says who changed what. An entry is written in the transaction of its change, so neither exists without the other.
 * It is never changed or removed afterwards.
 */

/** Every action that the trail records, with its meaning. */
export const TRAIL_ACTIONS = {
  "account.create": "An account was made.",
  "account.update": "The terms of an account were changed.",
  "account.suspend": "An account's keys are refused.",
  "account.activate": "An account's keys are taken again.",
  "account.credit": "An account's balance was moved by hand.",
  "account.purge": "Everything of an account but its money was removed.",
  "key.create": "An API key was made.",
  "key.update": "What an API key may do was changed.",
  "key.rotate": "An API key got a new secret.",
  "key.revoke": "An API key is refused for good.",
  "token.create": "A management token was made.",
  "token.revoke": "A management token is refused for good.",
  "session.end": "A browser's session of the console was ended, or a link to it taken back.",
  "price.set": "The price of a model was set.",
  "price.reset": "The price that was set for a model was removed.",
  "model.write": "The file of a model of the operator's own was written.",
  "model.remove": "The file of a model of the operator's own was removed.",
  "task.cancel": "A task was cancelled by an operator.",
  "task.refund": "A task's charge was given back.",
  "callback.redeliver": "A callback is sent once more for an operator.",
  "route.block": "A route, or an account of a provider, gets no tasks.",
  "route.allow": "What was known against a route was forgotten.",
  "provider.add": "The key of an account of a provider was kept.",
  "provider.remove": "The kept key of an account of a provider was removed.",
  "backup.create": "The data folder is backed up for an operator.",
  "files.collect": "Stored files that no task has are removed for an operator.",
  "files.verify": "Stored files are compared with their hashes, and what is damaged is noted.",
  "database.vacuum": "The database is written anew without its free pages.",
  "database.migrate": "The database was brought up to date.",
  "backup.restore": "The data folder was made of a backup; what came before is the backup's.",
  "settings.change": "The server took up another settings file.",
  "settings.reload": "A server was told to take up its settings.",
  "log.level": "How much the server logs was changed for a while.",
} as const;
export type TrailAction = keyof typeof TRAIL_ACTIONS;

/** The kinds of things that change. */
export const TRAIL_OBJECTS = [
  "account",
  "key",
  "token",
  "session",
  "model",
  "task",
  "callback",
  "route",
  "provider",
  "server",
] as const;
export type TrailObjectKind = (typeof TRAIL_OBJECTS)[number];

export interface TrailObject {
  readonly kind: TrailObjectKind;
  readonly id: string;
  /** As it was called then. */
  readonly name?: string | undefined;
}

/**
 * A change as the trail records it. `before` and `after` hold what changed, without secrets. An absent `before` means that the
 * object was created, an absent `after` that it was removed.
 */
export interface TrailNote {
  readonly action: TrailAction;
  readonly object: TrailObject;
  readonly before?: JsonObject | undefined;
  readonly after?: JsonObject | undefined;
}

/** Who did something, as the trail keeps it. */
export interface TrailActor {
  readonly kind: Actor["kind"];
  /** A token's. */
  readonly id?: string | undefined;
  /** Name of the token or of the machine's user at that time, or of the settings file. */
  readonly name?: string | undefined;
}

/** An entry as it is stored. A later version may have written actions and kinds that this one does not know. */
export interface TrailEntry extends Omit<TrailNote, "action" | "object"> {
  /** Later entries have higher numbers. */
  readonly number: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly actor: TrailActor;
  readonly action: string;
  readonly object: Omit<TrailObject, "kind"> & { readonly kind: string };
}

export function trailActor({ actor }: Pick<Act, "actor">): TrailActor {
  if (actor.kind === "token") return { kind: "token", id: actor.tokenId, name: actor.tokenName };
  return actor.kind === "system" ? { kind: "system" } : { kind: actor.kind, name: actor.name };
}

/** For each of two forms, the members that differ. @returns undefined if the forms are equal */
export function differences(
  before: JsonObject,
  after: JsonObject,
): { readonly before: JsonObject; readonly after: JsonObject } | undefined {
  const names = Object.keys({ ...before, ...after }).filter(
    (name) => canonicalJson(before[name] ?? null) !== canonicalJson(after[name] ?? null),
  );
  if (names.length === 0) return undefined;
  const only = (form: JsonObject) =>
    Object.fromEntries(names.flatMap((name) => (name in form ? [[name, form[name]]] : [])));
  return { before: only(before), after: only(after) };
}

/** An entry as operators read it: times in Unix seconds, null for what is not there. */
function trailForm({ number, at, actor, action, object, before, after }: TrailEntry): JsonObject {
  return {
    number,
    at: Math.floor(at / 1000),
    actor: { kind: actor.kind, id: actor.id ?? null, name: actor.name ?? null },
    action,
    object: { kind: object.kind, id: object.id, name: object.name ?? null },
    before: before ?? null,
    after: after ?? null,
  };
}

/** A page of the trail, with the cursor of the next one. */
export function trailPageForm(page: {
  readonly entries: readonly TrailEntry[];
  readonly next?: number | undefined;
}) {
  return {
    entries: page.entries.map(trailForm),
    next: page.next === undefined ? null : String(page.next),
  };
}
