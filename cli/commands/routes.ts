import type { Command } from "commander";
import type { JsonObject } from "../../src/domain/json.ts";
import type { RouteTarget } from "../../src/domain/ports/managed-routes.ts";
import { placeAgain } from "../again.ts";
import { addCommands, given, type Invocation, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { ROUTE_COLUMNS, routeRow } from "../format/route-view.ts";
import { formatTime } from "../format/units.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import { addManagedCommand } from "../manage/managed.ts";
import type { PlaceFlags } from "../manage/place.ts";
import { withRoutePlace } from "../manage/routes.ts";
import { addExplain } from "./routes/explain.ts";

const ROUTES = { list: addList, explain: addExplain, block: addBlock, allow: addAllow };

export function defineRoutes(routes: Command, context: Context, [word]: readonly string[]): void {
  addCommands(routes, context, ROUTES, word);
}

function addList(routes: Command, context: Context): void {
  const about = "list the ways that tasks can take: what each account makes, its state, rate and times";
  const command = addManagedCommand(routes, "list", about);
  withExamples(command, "svc routes list", "svc routes list --json");
  withNotes(
    command,
    "On a data folder it shows what its database knows; rates, times and successes are known to a running server alone. It lists what is switched on here, and says what the others need.",
  );
  onRun<PlaceFlags>(command, context, async (invocation) => {
    const { routes, off } = await withRoutePlace(invocation, async (place) => ({
      routes: await place.list(),
      off: (await place.switchedOff?.()) ?? [],
    }));
    await invocation.output.list([...routes], ROUTE_COLUMNS, routes.map(routeRow));
    const missing = off.map(({ id, needs }) => `${id} (needs ${needs.join(" and ")})`);
    if (missing.length > 0)
      invocation.output.say(
        `${off.length} more are switched off with these variables and settings: ${missing.join(", ")}.`,
      );
  });
}

const WHOLE = "PROVIDER alone is every account of it, PROVIDER/default the one of its customary variable.";

function addBlock(routes: Command, context: Context): void {
  const about = "send no more tasks to an account, or to one model there";
  const command = addManagedCommand(routes, "block <account> [upstream-model]", about).option(
    "--reason <text>",
    "why, for people",
  );
  withExamples(
    command,
    'svc routes block fal --reason "invoice overdue"',
    "svc routes block fal/second fal-ai/flux/dev",
  );
  withNotes(
    command,
    `${WHOLE} Tasks under way go on, waiting ones go elsewhere or wait. A restart does not forget it. The server of a data folder follows within two seconds.`,
  );
  onRun<PlaceFlags & { reason?: string }>(command, context, async (invocation) => {
    const target = targetOf(invocation);
    const { reason } = invocation.options;
    if (reason !== undefined && !isReason(reason))
      throw usage("--reason takes 1 to 200 characters, and no control characters.");
    const shown = await withRoutePlace(invocation, async (place) => {
      const routes = await place.block(target, reason);
      invocation.output.done(`Blocked ${nameOf(invocation)} ${place.at}.`);
      return routes;
    });
    if (shown.length === 0)
      invocation.output.warn(
        "No account that is switched on here has that name: what is blocked is one that comes. `svc routes list` lists those there are.",
      );
    await invocation.output.list([...shown], ROUTE_COLUMNS, shown.map(routeRow));
  });
}

function addAllow(routes: Command, context: Context): void {
  const about = "forget what keeps tasks from an account or a model there: blocks, faults, refusals";
  const command = addManagedCommand(routes, "allow <account> [upstream-model]", about);
  withExamples(command, "svc routes allow fal", "svc routes allow fal/second fal-ai/flux/dev");
  withNotes(command, `${WHOLE} What is blocked as a whole must be allowed as a whole.`);
  onRun<PlaceFlags>(command, context, async (invocation) => {
    const target = targetOf(invocation);
    const shown = await withRoutePlace(invocation, async (place) => {
      const routes = await place.allow(target);
      invocation.output.done(`Allowed ${nameOf(invocation)} ${place.at}.`);
      return routes;
    });
    const shut = shown.find(({ state }) => state !== "closed");
    if (shut !== undefined) invocation.output.warn(stillShut(shut, placeAgain(command)));
    await invocation.output.list([...shown], ROUTE_COLUMNS, shown.map(routeRow));
  });
}

function stillShut({ lane, state, until }: JsonObject, where: string): string {
  if (state !== "paused") return `${lane} is ${state} as a whole: \`svc routes allow ${lane}${where}\`.`;
  const end = typeof until === "number" ? ` until ${formatTime(until * 1000)}` : "";
  return `${lane} stays paused${end}: its provider asked for that, and it ends by itself.`;
}

/** `fal`, `fal/second`. */
function targetOf({ args }: Pick<Invocation<unknown>, "args">): RouteTarget {
  const [, provider, account] = /^([^/]+)(?:\/([^/]+))?$/.exec(given(args, 0)) ?? [];
  if (provider === undefined)
    throw usage("Name an account as PROVIDER or PROVIDER/ACCOUNT.", "`svc routes list` lists them.");
  return { provider, account, upstreamModel: args[1] };
}

function nameOf({ args }: Pick<Invocation<unknown>, "args">): string {
  return args[1] === undefined ? given(args, 0) : `${args[1]} at ${given(args, 0)}`;
}

/** What the server takes too. */
function isReason(reason: string): boolean {
  const { length } = [...reason];
  return length > 0 && length <= 200 && !/\p{Cc}|\p{Cs}/u.test(reason);
}
