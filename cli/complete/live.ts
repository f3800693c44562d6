import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { VERSION } from "../../src/version.ts";
import { exchange } from "../client/exchange.ts";
import { objectsOf } from "../client/lenient.ts";
import { systemTiming } from "../client/retry.ts";
import type { Context } from "../context.ts";
import { type ClientSettings, readClientSettings, readOperatorSettings } from "../environment.ts";
import { readLocalConfig } from "../local.ts";
import { readProfiles } from "../profiles/profile-file.ts";
import { cached } from "./cache.ts";
import type { Candidate, Live } from "./candidates.ts";

/** A person who presses Tab waits for a server no longer than this. */
const LIMIT_MS = 100;
const MOST = 100;

export type Flags = ReadonlyMap<string, string>;

/** Names that a server or a data folder knows. Empty if it is unreachable, refuses, or takes too long. */
export async function liveNames(of: Live, flags: Flags, context: Context): Promise<readonly Candidate[]> {
  try {
    return await namesOf(of, flags, context);
  } catch {
    // A shell asks while somebody types: there is nobody to tell.
    return [];
  }
}

async function namesOf(of: Live, flags: Flags, context: Context): Promise<readonly Candidate[]> {
  switch (of) {
    case "model":
      return read(context, clientOf(flags, context), "/v1/models", (data) =>
        objectsOf(data.models).map((each) => candidate(each.id, each.name)),
      );
    case "task":
      return read(context, clientOf(flags, context), `/v1/tasks?limit=${MOST}`, (data) =>
        objectsOf(data.tasks).map((each) =>
          candidate(each.task_id, `${each.status} ${each.model ?? ""}`.trim()),
        ),
      );
    case "callback":
      return read(context, clientOf(flags, context), `/v1/callbacks?limit=${MOST}`, (data) =>
        objectsOf(data.callbacks).map((each) =>
          candidate(each.id, `${each.state ?? ""} ${each.task_id ?? ""}`),
        ),
      );
    case "field":
      return await fieldsOf(flags, context);
    case "profile":
      return Array.from(readProfiles(context), ([name, { server }]) => ({ word: name, about: server }));
    case "provider":
      return await providersOf(flags, context);
    case "key":
    case "account":
    case "token":
      return await administered(of, flags, context);
    default:
      return [];
  }
}

/** The fields of the model that a flag names, each ready for its value, and each value that is one of several. */
async function fieldsOf(flags: Flags, context: Context): Promise<readonly Candidate[]> {
  const model = flags.get("--model");
  if (model === undefined) return [];
  const path = `/v1/models/${encodeURIComponent(model)}`;
  return await read(context, clientOf(flags, context), path, ({ schema }) => {
    const properties = isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
    return Object.entries(properties).flatMap(([name, property]) => {
      const { description, enum: among } = isJsonObject(property) ? property : {};
      const values = Array.isArray(among) ? among : [];
      return [
        candidate(`${name}=`, description),
        ...values.map((value) => candidate(`${name}=${String(value)}`, "")),
      ];
    });
  });
}

/** Those that come along, and those of the data folder. */
async function providersOf(flags: Flags, context: Context): Promise<readonly Candidate[]> {
  const { providerNames } = await import("../../src/app/provider-names.ts");
  const config = readLocalConfig(localFlags(flags), context);
  return providerNames(config).map(({ name, about }) => candidate(name, about));
}

/** From a server that a flag or a variable names together with a management token, otherwise from the data folder. */
async function administered(
  of: "key" | "account" | "token",
  flags: Flags,
  context: Context,
): Promise<readonly Candidate[]> {
  const isFolder = ["--data-dir", "--database", "--config"].some((flag) => flags.has(flag));
  const isServer = ["--server", "--token", "--token-file", "--profile"].some((flag) => flags.has(flag));
  const { SVC_SERVER, SVC_MANAGEMENT_TOKEN } = context.env;
  if (!isFolder && (isServer || (SVC_SERVER && SVC_MANAGEMENT_TOKEN))) {
    const settings = readOperatorSettings(
      { ...serverFlags(flags), ...optional("token", flags.get("--token")) },
      context,
    );
    return await read(context, settings, `/admin/v1/${of}s`, (data) =>
      objectsOf(data[`${of}s`])
        .filter(({ status }) => status !== "revoked")
        .map((each) => candidate(each.name, each.account ?? each.mode ?? each.display)),
    );
  }
  const { namesIn } = await import("../../src/app/names.ts");
  const config = readLocalConfig(localFlags(flags), context);
  return (await namesIn(config, of, MOST)).map(({ name, about }) => candidate(name, about));
}

function localFlags(flags: Flags) {
  return {
    ...optional("dataDir", flags.get("--data-dir")),
    ...optional("database", flags.get("--database")),
    ...optional("config", flags.get("--config")),
  };
}

function clientOf(flags: Flags, context: Context): ClientSettings {
  return readClientSettings({ ...serverFlags(flags), ...optional("key", flags.get("--key")) }, context);
}

function serverFlags(flags: Flags) {
  return { ...optional("server", flags.get("--server")), ...optional("profile", flags.get("--profile")) };
}

const optional = <Name extends string>(name: Name, value: string | undefined) =>
  // The computed name is the one asked for.
  (value === undefined ? {} : { [name]: value }) as { readonly [Each in Name]?: string };

/** Asks a server once, or takes what it said a moment ago. */
async function read(
  context: Context,
  settings: ClientSettings,
  path: string,
  candidatesOf: (data: JsonObject) => readonly Candidate[],
): Promise<readonly Candidate[]> {
  return await cached(context, [settings.server, settings.key, path], async () => {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const options = { userAgent: `svc/${VERSION}`, timing: systemTiming, signal };
    const answer = await exchange(settings, options, { method: "GET", path });
    if (!answer.ok) throw answer.failure;
    return candidatesOf(answer.value.data);
  });
}

const candidate = (word: unknown, about: unknown): Candidate => ({
  word: typeof word === "string" ? word : "",
  about: typeof about === "string" ? about : "",
});
