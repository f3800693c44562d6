import { send } from "./client.ts";
import type { Dice } from "./dice.ts";
import type { Fleet } from "./nodes-fleet.ts";

const BUYERS = 6;
const PAUSE_MS: [number, number] = [20, 150];
const WITHIN_MS = 5_000;
/** One create in so many is sent twice at once, to two nodes. */
const TWICE = 10;

/** What clients have asked for and got. */
export interface Bought {
  /** Tasks by the keys under which they were created. */
  readonly tasks: ReadonlyMap<string, string>;
  readonly asked: number;
  readonly resent: number;
  readonly replayed: number;
  /** What an answer should not have been. */
  readonly wrong: readonly string[];
}

/** Clients that create tasks at any node, and send each create again, to any other, until it is answered. */
export function createBuyers(given: { fleet: Fleet; dice: Dice; key: string; callbackUrl: string }) {
  const { fleet, dice, key, callbackUrl } = given;
  const origins = fleet.origins();
  const tasks = new Map<string, string>();
  const wrong: string[] = [];
  const counts = { asked: 0, resent: 0, replayed: 0 };
  let isOver = false;

  const create = (name: string) =>
    send(origins[dice.between(0, origins.length - 1)] ?? "", {
      path: "/v1/images/generations",
      key,
      body: {
        model: "sandbox-image",
        prompt: name,
        size: "64x64",
        callback_url: callbackUrl,
        // The same each time that it is sent.
        sandbox: { delay_ms: Number(Bun.hash.xxHash32(name)) % 1_500 },
      },
      headers: { "Idempotency-Key": name },
      withinMs: WITHIN_MS,
    });

  function take(name: string, answer: Awaited<ReturnType<typeof create>>): boolean {
    if (answer === undefined || answer.status >= 500 || answer.status === 409 || answer.status === 429)
      return false;
    const id = answer.data.task_id;
    if (answer.status !== 200 || typeof id !== "string") {
      wrong.push(`A create was answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 200)}`);
      return true;
    }
    if (answer.headers.get("X-Idempotent-Replay") === "true") counts.replayed += 1;
    const known = tasks.get(name);
    if (known !== undefined && known !== id) wrong.push(`${name} is two tasks: ${known} and ${id}`);
    tasks.set(name, id);
    return true;
  }

  async function buy(name: string): Promise<void> {
    counts.asked += 1;
    const others = dice.between(1, TWICE) === 1 ? [create(name)] : [];
    for (;;) {
      const answers = await Promise.all([create(name), ...others.splice(0)]);
      // All of them, not only as far as the first that is one.
      if (answers.map((answer) => take(name, answer)).some(Boolean)) return;
      counts.resent += 1;
      await Bun.sleep(dice.between(50, 400));
    }
  }

  async function goOn(buyer: number): Promise<void> {
    for (let i = 0; !isOver; i++) {
      await buy(`${buyer}-${i}`);
      await Bun.sleep(dice.between(...PAUSE_MS));
    }
  }

  const buying = Array.from({ length: BUYERS }, (_, buyer) => goOn(buyer));
  return {
    async end(): Promise<Bought> {
      isOver = true;
      await Promise.all(buying);
      return { tasks, wrong, ...counts };
    },
  };
}
