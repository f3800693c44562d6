import type { Server } from "../helpers/server.ts";
import { MOMENTS, type Moment, type Receivers } from "./callbacks-receivers.ts";
import type { Dice } from "./dice.ts";
import { type Kill, liveAndDie, spin } from "./killer.ts";
import type { Load } from "./load.ts";

/** `at` a point of the first delivery after it has lived so long, or a hair later; otherwise as any server is killed. */
export type DeliveryKill =
  | { readonly at: Moment; readonly afterMs: number; readonly laterMs: number }
  | { readonly at: "anywhere"; readonly kill: Kill };

export type DeliveryKillName = Moment | Kill["kind"];

/** Deliveries come by the dozen in a second; without one for so long, it is killed all the same. */
const WAITS_MS = 2_000;

/** @param lifeMs how long a ready server lives at least, and at most until it is waited for a delivery */
export function decideDeliveryKill(dice: Dice, lifeMs: readonly [number, number]): DeliveryKill {
  const afterMs = dice.between(...lifeMs);
  const draw = dice.next();
  const at = dice.pick(MOMENTS);
  // Half of them at once, the others about when the outcome is being recorded.
  const laterMs = dice.chance(0.5) ? 0 : dice.next() * 8;
  const drainMs = dice.between(0, 400);
  const startingMs = dice.between(10, 400);
  if (draw < 0.64) return { at, afterMs, laterMs };
  const anywhere = (kill: Kill) => ({ at: "anywhere", kill }) as const;
  if (draw < 0.74) return anywhere({ kind: "starting", afterMs: startingMs });
  if (draw < 0.82) return anywhere({ kind: "draining", afterMs, drainMs });
  // Tasks take no time here: within milliseconds after the create they end, and their callbacks begin.
  if (draw < 0.94) return anywhere({ kind: "creating", afterMs, laterMs: laterMs * 3 });
  return anywhere({ kind: "serving", afterMs });
}

/** Lets the server live as decided, then ends it. @throws Error when it does not become ready, or ends by itself */
export async function killAtDelivery(
  server: Server,
  decided: DeliveryKill,
  around: { readonly receivers: Receivers; readonly load: Load },
): Promise<DeliveryKillName> {
  if (decided.at === "anywhere") {
    const { kill } = await liveAndDie(server, decided.kill, around.load.nextCreate);
    return kill.kind;
  }
  await server.ready();
  await Bun.sleep(decided.afterMs);
  const reached = Promise.withResolvers<Moment>();
  const strike = () => {
    spin(decided.laterMs);
    server.signal("SIGKILL");
    reached.resolve(decided.at);
  };
  around.receivers.onNext(decided.at, strike);
  const name = await Promise.race([reached.promise, Bun.sleep(WAITS_MS).then(() => "serving" as const)]);
  if (server.hasExited() && name === "serving")
    throw new Error(`The server ended by itself.\n${server.stderr().slice(-4_000)}`);
  server.signal("SIGKILL");
  await server.exited;
  return name;
}
