import type { JsonObject } from "../../src/domain/json.ts";
import type { RouteTarget } from "../../src/domain/ports/managed-routes.ts";
import { managedWayForm } from "../../src/domain/route-form.ts";
import { type AdminCalls, HARMLESS } from "../client/admin.ts";
import type { Invocation } from "../command.ts";
import { readLocalConfig, showPlace } from "../local.ts";
import { objectsIn } from "./fields.ts";
import { connectAsOperator } from "./managed.ts";
import { choosePlace, type PlaceFlags } from "./place.ts";

/** The ways of a data folder or a server, as the API words them. */
export interface RoutePlace {
  /** For messages: `in ./svc-data`, or `on https://svc.example`. */
  readonly at: string;
  list(): Promise<readonly JsonObject[]>;
  /** What is not listed because these variables do not switch it on; absent for a server, which has its own. */
  switchedOff?(): Promise<readonly { readonly id: string; readonly needs: readonly string[] }[]>;
  block(target: RouteTarget, reason: string | undefined): Promise<readonly JsonObject[]>;
  allow(target: RouteTarget): Promise<readonly JsonObject[]>;
}

/** Works with the ways of the place that flags and variables name. */
export async function withRoutePlace<Result>(
  invocation: Invocation<PlaceFlags>,
  work: (place: RoutePlace) => Promise<Result>,
): Promise<Result> {
  const { options, context, output } = invocation;
  if (choosePlace(options, context) === "server") {
    const calls = connectAsOperator(options, context, output);
    if (context.stderr.isTerminal) output.say(`(on ${calls.server})`);
    return work(remoteRoutes(calls));
  }
  // Loaded late: it imports every provider.
  const { openLocalRoutes } = await import("../../src/app/local-routes.ts");
  const config = readLocalConfig(options, context);
  const local = await openLocalRoutes(config);
  try {
    return await work({
      at: `in ${showPlace(config, context)}`,
      list: async () => (await local.list()).map(managedWayForm),
      switchedOff: local.switchedOff,
      block: async (target, reason) => (await local.block(target, reason)).map(managedWayForm),
      allow: async (target) => (await local.allow(target)).map(managedWayForm),
    });
  } finally {
    await local.stop();
  }
}

function remoteRoutes(calls: AdminCalls): RoutePlace {
  const change = async (
    word: string,
    { provider, account, upstreamModel }: RouteTarget,
    more: JsonObject,
  ) => {
    const body = {
      ...{ provider, ...more },
      ...(account !== undefined && { account }),
      ...(upstreamModel !== undefined && { upstream_model: upstreamModel }),
    };
    return objectsIn(await calls.send("POST", `/routes/${word}`, body, HARMLESS), "routes");
  };
  return {
    at: `on ${calls.server}`,
    list: async () => objectsIn(await calls.get("/routes"), "routes"),
    block: (target, reason) => change("block", target, reason === undefined ? {} : { reason }),
    allow: (target) => change("allow", target, {}),
  };
}
