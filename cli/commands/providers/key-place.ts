import { existsSync } from "node:fs";
import type { KeyedProvider } from "../../../src/app/kept-accounts.ts";
import type { Config } from "../../../src/config/config.ts";
import type { LaneId } from "../../../src/domain/ids.ts";
import { accountNameOf, providerOf } from "../../../src/domain/lane.ts";
import { apiKey, text } from "../../../src/toolkit/settings/parsers.ts";
import { type AdminCalls, HARMLESS, segment } from "../../client/admin.ts";
import type { Invocation } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, unexpectedAnswer } from "../../failure.ts";
import { readLocalConfig, showPath } from "../../local.ts";
import { textIn } from "../../manage/fields.ts";
import { connectAsOperator } from "../../manage/managed.ts";
import { choosePlace, type PlaceFlags } from "../../manage/place.ts";
import { withUnusableFiles } from "./unusable.ts";

/** Where keys of providers' accounts are kept: a data folder, or a server's. */
export interface KeyPlace {
  /** For messages: `in ./svc-data`, or `on https://svc.example`. */
  readonly at: string;
  readonly isHere: boolean;
  /** What names the place in JSON. */
  readonly named: { readonly data_dir: string } | { readonly server: string };
  /** @throws Failure (exit 5) where there is no such provider */
  find(id: string): Promise<KeyedProvider>;
  /** @returns a sentence that says from when on it counts */
  keep(lane: LaneId, secrets: Readonly<Record<string, string>>): Promise<string>;
  /** @returns a sentence that says until when it counts @throws Failure (exit 5) where none is kept */
  forget(lane: LaneId): Promise<string>;
}

export async function openKeyPlace({ options, context, output }: Invocation<PlaceFlags>): Promise<KeyPlace> {
  if (choosePlace(options, context) === "server")
    return onServer(connectAsOperator(options, context, output));
  const config = readLocalConfig(options, context);
  return inFolder(config, showPath(config.dataDir, context.cwd));
}

async function inFolder(config: Config, shown: string): Promise<KeyPlace> {
  // Loaded late: it imports every provider.
  const kept = await import("../../../src/app/kept-accounts.ts");
  return {
    ...{ at: `in ${shown}`, isHere: true, named: { data_dir: config.dataDir } },
    async find(id) {
      const provider = await kept.findKeyedProvider(id, config);
      if (!("nearest" in provider)) return provider;
      const { nearest, problems } = provider;
      const hint =
        nearest === undefined ? "svc providers list --all has them all." : `Did you mean ${nearest}?`;
      const unknown = `There is no provider "${id.slice(0, 80)}".`;
      throw withUnusableFiles(new Failure(EXIT.notFound, "not_found", unknown, { hint }), id, problems);
    },
    async keep(lane, secrets) {
      await kept.keepAccount(config, lane, secrets);
      return "A running server takes it up at its next start, or at svc config reload.";
    },
    async forget(lane) {
      const isGone = existsSync(config.dataDir) && (await kept.forgetAccount(config, lane));
      if (isGone) return "A running server uses it until it stops, or until svc config reload.";
      throw notKept(lane, `in ${shown}`);
    },
  };
}

function onServer(calls: AdminCalls): KeyPlace {
  const { server } = calls;
  const change = async (
    verb: "add" | "remove",
    lane: LaneId,
    body: { readonly secrets?: Record<string, string> },
  ) => {
    const path = `/providers/${segment(providerOf(lane))}/${verb}`;
    const form = await calls.send("POST", path, { account: accountNameOf(lane), ...body }, HARMLESS);
    return form.in_force === true
      ? "The server has taken that up."
      : "The server takes that up at its next start.";
  };
  return {
    ...{ at: `on ${server}`, isHere: false, named: { server } },
    async find(id) {
      const form = await calls.get(`/providers/${segment(id)}`);
      return { id: textIn(form, "id"), title: textIn(form, "title"), kinds: kindsIn(form.kinds) };
    },
    keep: (lane, secrets) => change("add", lane, { secrets: { ...secrets } }),
    async forget(lane) {
      try {
        return await change("remove", lane, {});
      } catch (error) {
        // The provider was found.
        if (error instanceof Failure && error.exitCode === EXIT.notFound) throw notKept(lane, `on ${server}`);
        throw error;
      }
    },
  };
}

function notKept(lane: LaneId, at: string): Failure {
  return new Failure(EXIT.notFound, "not_found", `No key of ${lane} is kept ${at}.`);
}

/** The server checks what each secret must be. */
function kindsIn(kinds: unknown): KeyedProvider["kinds"] {
  if (!Array.isArray(kinds) || !kinds.every(Array.isArray))
    throw unexpectedAnswer(
      "The server's answer does not say which secrets an account has; it may be an older version.",
    );
  return kinds.map((kind) =>
    kind.map((name) => ({ name: String(name), variable: undefined, parse: name === "key" ? apiKey : text })),
  );
}
