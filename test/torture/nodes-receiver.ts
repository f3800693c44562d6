import { Webhook } from "standardwebhooks";
import type { Dice } from "./dice.ts";

/** One POST in so many is refused the first time. */
const REFUSES = 8;

/** What came in callbacks. */
export interface Received {
  /** By task, how often its callback came and was taken. */
  readonly taken: ReadonlyMap<string, number>;
  readonly refused: number;
  readonly wrong: readonly string[];
}

/** Takes the callbacks of all tasks, checks their signatures, and refuses some at first. */
export function openReceiver({ host, secret, dice }: { host: string; secret: string; dice: Dice }) {
  const webhook = new Webhook(secret);
  const taken = new Map<string, number>();
  const seen = new Set<string>();
  const wrong: string[] = [];
  let refused = 0;
  const server = Bun.serve({
    hostname: host,
    port: 0,
    async fetch(request) {
      const body = await request.text();
      const id = String(JSON.parse(body).task_id);
      try {
        webhook.verify(body, Object.fromEntries(request.headers));
      } catch (error) {
        // The time of a node whose clock is wrong by minutes is not its own: callbacks are signed with the database's.
        wrong.push(`the callback of ${id} is not signed as it should be: ${(error as Error).message}`);
      }
      const isFirst = !seen.has(id);
      seen.add(id);
      if (isFirst && dice.between(1, REFUSES) === 1) {
        refused += 1;
        return new Response(null, { status: 503 });
      }
      taken.set(id, (taken.get(id) ?? 0) + 1);
      return new Response(null, { status: 204 });
    },
  });
  return {
    url: `http://${host}:${server.port}/`,
    received: (): Received => ({ taken, refused, wrong }),
    stop: () => server.stop(true),
  };
}
