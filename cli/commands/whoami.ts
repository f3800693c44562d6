import type { Command } from "commander";
import { displayOf } from "../../src/domain/access/credential.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { identifyKey, identifyToken } from "../client/identity.ts";
import { clientOptions } from "../client/remote.ts";
import { serverVersion, versionWarning } from "../client/server-version.ts";
import { onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import {
  type ClientFlags,
  type OperatorFlags,
  readClientSettings,
  readOperatorSettings,
  readServerSetting,
} from "../environment.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { withKeyFlags, withTokenFlags } from "../flags/credentials.ts";
import { type Field, renderFields } from "../format/table.ts";
import { formatTime } from "../format/units.ts";
import { withExamples, withExits } from "../help/manual.ts";
import { chosenProfile } from "../profiles/chosen.ts";

type Flags = ClientFlags & OperatorFlags & { readonly verbose?: boolean };

export function defineWhoami(command: Command, context: Context): void {
  withCommonFlags(command)
    .option("-s, --server <url>", "address of the server (SVC_SERVER)")
    .option("--profile <name>", "profile of `svc login` (SVC_PROFILE)")
    .option("-v, --verbose", "print requests and answers on stderr");
  withTokenFlags(withKeyFlags(command));
  withExits(command, "auth", "overloaded", "unreachable", "config", "interrupted");
  withExamples(command, "svc whoami", "svc whoami --profile prod --field balance.available");
  onRun<Flags>(command, context, async ({ options, output }) => {
    const server = readServerSetting(options, context);
    const key = heldIn(() => readClientSettings(options, context).key);
    const token = heldIn(() => readOperatorSettings(options, context).key);
    if (key === undefined && token === undefined) readClientSettings(options, context);
    const client = clientOptions(options, context, output);
    const version = await serverVersion(server, client);
    const warning = versionWarning(server, version);
    if (warning !== undefined) output.warn(warning);
    const profile = profileFor(options, context, server);
    const status = key === undefined ? {} : await identifyKey(server, key, client);
    const operator = token === undefined ? undefined : await identifyToken(server, token, client);
    const value = {
      server,
      version: version ?? null,
      profile: profile ?? null,
      management_token: operator === undefined ? null : { ...operator },
      ...status,
    };
    output.show(value, () =>
      renderFields(
        [
          ["server", version === undefined ? server : `${server} (svc ${version})`],
          ["profile", profile],
          ["token", operator && `${operator.name} (${operator.display})`],
          ["scopes", operator?.scopes.join(", ")],
          ...(key === undefined ? [] : keyFields(status, key)),
        ],
        output,
      ),
    );
  });
}

/** @returns undefined where there is no such credential */
function heldIn(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Failure && error.exitCode === EXIT.auth && error.code.startsWith("no_"))
      return undefined;
    throw error;
  }
}

function profileFor(flags: Flags, context: Context, server: string): string | undefined {
  const profile = chosenProfile(flags, context);
  return profile?.server === server ? profile.name : undefined;
}

/** Only what there is: a key without limits shows none. */
function keyFields(status: JsonObject, key: string): Field[] {
  const at = (name: string) => objectAt(status, name);
  const { permissions, quota } = at("key");
  const { models, features } = isJsonObject(permissions) ? permissions : {};
  const { limit, remaining, resets_at: resetsAt } = isJsonObject(quota) ? quota : {};
  const until = typeof resetsAt === "number" ? ` until ${formatTime(resetsAt * 1000)}` : "";
  const { available, reserved, currency } = at("balance");
  const money = (amount: Json | undefined) => (amount == null ? undefined : `${amount} ${currency}`);
  const expiresAt = at("key").expires_at;
  return [
    ["account", `${at("account").name} (${at("account").id})`],
    ["key", `${at("key").name} (${displayOf(key)})`],
    ["expires", typeof expiresAt === "number" ? formatTime(expiresAt * 1000) : "never"],
    ["models", wordsIn(models)],
    ["features", wordsIn(features)],
    ...limitFields(at("key").rate_limits),
    ["quota", limit == null ? undefined : `${money(remaining)} left of ${money(limit)}${until}`],
    ["available", money(available) ?? "unlimited"],
    ["reserved", money(reserved)],
    ["blocked by", wordsIn(status.blocked_by)],
  ];
}

function limitFields(limits: Json | undefined): Field[] {
  return (Array.isArray(limits) ? limits : []).filter(isJsonObject).map((each): Field => {
    const within = typeof each.window_seconds === "number" ? ` in ${each.window_seconds} s` : " at once";
    return [String(each.metric).replaceAll("_", " "), `${each.remaining} left of ${each.limit}${within}`];
  });
}

function objectAt(form: JsonObject, name: string): JsonObject {
  const value = form[name];
  return isJsonObject(value) ? value : {};
}

function wordsIn(list: Json | undefined): string | undefined {
  return Array.isArray(list) && list.length > 0 ? list.join(", ") : undefined;
}
