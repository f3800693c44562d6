import type { JsonObject } from "../../domain/json.ts";
import { createTurns } from "../../toolkit/next-turn.ts";
import { type Api, ask } from "./api.ts";
import { createJsonScan } from "./json-scan.ts";

/** The state of a prompt while it is in the queue. */
export type QueuePlace = "running" | "pending";

export interface Queue {
  /** Where a prompt is now; undefined for one that is not in the queue. */
  find(id: string, signal: AbortSignal): Promise<QueuePlace | undefined>;
  /** Where it was a moment ago, if that is known. */
  known(id: string): QueuePlace | undefined;
}

/** Each entry comes with its whole graph, and thousands may wait. */
const QUEUE_BYTES = 512 * 1024 * 1024;
/**
 * How long a read queue is reused; longer if reading it takes long. A queue of 27 MB, a thousand prompts, takes a tenth of a second
 * (2026-11).
 */
const KNOWN_MS = 2_000;
const KNOWN_TIMES = 20;

/** The queue of a server, which is read for all tasks of the account at once. */
export function createQueue(api: Api): Queue {
  const { clock } = api.upstream;
  let latest: { readonly places: Places; readonly untilMs: number } | undefined;
  return {
    async find(id, signal) {
      const start = clock.elapsed();
      const places = placesIn(await ask(api, "/queue", signal, { read: readQueue, maxBytes: QUEUE_BYTES }));
      const tookMs = clock.elapsed() - start;
      latest = { places, untilMs: clock.elapsed() + Math.max(KNOWN_MS, tookMs * KNOWN_TIMES) };
      return places.get(id);
    },
    known: (id) =>
      latest === undefined || clock.elapsed() >= latest.untilMs ? undefined : latest.places.get(id),
  };
}

type Places = ReadonlyMap<string, QueuePlace>;

function placesIn(answer: JsonObject): Places {
  const places = (["pending", "running"] as const).flatMap((place) => {
    const { [place]: ids } = answer;
    return Array.isArray(ids) ? ids.map((id): [string, QueuePlace] => [String(id), place]) : [];
  });
  return new Map(places);
}

const LISTS: Readonly<Record<string, QueuePlace>> = { queue_running: "running", queue_pending: "pending" };

/**
 * Reads `{queue_running: [[number, id, graph, …]], queue_pending: […]}`.
 *
 * @returns the ids in each place; undefined for what is no such answer
 */
async function readQueue(body: AsyncIterable<Uint8Array>): Promise<JsonObject | undefined> {
  const ids: Record<QueuePlace, string[]> = { running: [], pending: [] };
  const seen = new Set<QueuePlace>();
  let list: QueuePlace | undefined;
  const scan = createJsonScan({
    // A name at the top, or the second entry of an entry of a list.
    wants: (depth, index) => depth === 1 || (depth === 3 && index === 1),
    text(depth, text) {
      if (depth === 3 && list !== undefined) ids[list].push(text);
      if (depth !== 1) return;
      list = Object.hasOwn(LISTS, text) ? LISTS[text] : undefined;
    },
    closed(depth) {
      if (depth === 2 && list !== undefined) seen.add(list);
    },
  });
  const turn = createTurns();
  let isOver = false;
  for await (const piece of body) {
    isOver = scan(piece);
    const pause = turn(piece.length);
    if (pause !== undefined) await pause;
  }
  return isOver && seen.size === 2 ? ids : undefined;
}
