import type { LaneId } from "../domain/ids.ts";
import { isJsonObject, type Json } from "../domain/json.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { Lease } from "../domain/task/task.ts";

/** Most tasks that try again to fetch their results at once: of one host, of one host past their deadlines, and in all. */
const MOST_OF_HOST = 4;
const MOST_LATE_OF_HOST = 16;
const MOST = 32;
/** A host that has just failed is left alone for this long. */
const REST_MS = 250;
/** How soon a task is looked at again that may not try now, and how far apart those of one host are. */
const STAND_BACK_MS = 2_000;
const APART_MS = 100;
/** Most hosts that are remembered; the earliest are forgotten first. */
const MOST_HOSTS = 1_000;

/** What is known of a host whose results could not be fetched. */
interface Host {
  trying: number;
  /** When it may be asked again, and the latest time that a task was told to be due again; on the clock that is never set. */
  restsUntil: number;
  told: number;
}

/**
 * The tasks that try again to fetch their results in this process. They hold no place of their lane, so there may be hundreds, and the host
 * that they wait for is in trouble.
 */
export interface Retrievals {
  /** @returns a function to be called with whether the task has ended; undefined for a task that may not try now */
  begin(lease: Lease): ((isOver: boolean) => void) | undefined;
  /** When a task that may not try now is due again. */
  againAt(lease: Lease): number;
  total(): number;
}

export function createRetrievals(clock: Pick<Clock, "now" | "elapsed">): Retrievals {
  const hosts = new Map<string, Host>();
  let total = 0;

  function hostOf(lease: Lease): Host {
    const name = nameOf(lease);
    const known = hosts.get(name);
    if (known !== undefined) return known;
    const host = { trying: 0, restsUntil: 0, told: 0 };
    hosts.set(name, host);
    const [earliest] = hosts.size > MOST_HOSTS ? hosts.keys() : [];
    if (earliest !== undefined) hosts.delete(earliest);
    return host;
  }

  return {
    begin(lease) {
      const host = hostOf(lease);
      const isLast = isPastDeadline(lease, clock.now());
      if (total >= MOST || host.trying >= (isLast ? MOST_LATE_OF_HOST : MOST_OF_HOST)) return undefined;
      if (!isLast && clock.elapsed() < host.restsUntil) return undefined;
      total += 1;
      host.trying += 1;
      return (isOver) => {
        total -= 1;
        host.trying -= 1;
        host.restsUntil = isOver ? 0 : clock.elapsed() + REST_MS;
      };
    },
    againAt(lease) {
      const host = hostOf(lease);
      const elapsed = clock.elapsed();
      host.told = Math.max(elapsed + STAND_BACK_MS, host.told + APART_MS);
      return clock.now() + host.told - elapsed;
    },
    total: () => total,
  };
}

/** A task past its deadline is not put off: it ends unless its results come. */
function isPastDeadline(
  { task: { deadlineAt = Number.POSITIVE_INFINITY, cancelRequested } }: Lease,
  now: number,
) {
  return cancelRequested || now >= deadlineAt;
}

/** The lane, and the host of the first result that is still to be fetched, where its address says it. */
function nameOf({ task, attempt }: Lease): string {
  const lane: LaneId = attempt?.lane ?? task.lane;
  const output = attempt?.outputs?.find(({ kind }) => kind === "remote");
  return output?.kind === "remote" ? `${lane} ${hostIn(output.ref)}` : lane;
}

function hostIn(ref: Json): string {
  const url = isJsonObject(ref) ? ref.url : ref;
  return typeof url === "string" ? (URL.parse(url)?.host ?? "") : "";
}
