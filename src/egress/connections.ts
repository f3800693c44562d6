import { type ClientRequest, type ClientRequestArgs, Agent as PlainAgent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import type { Socket } from "node:net";
import type { After } from "../toolkit/deadline.ts";
import type { Destination } from "./destination.ts";

/** How long an idle connection is kept. Servers wait longer; the most hasty ones two seconds. */
const IDLE_MS = 1_500;
/** Places whose connections are kept, those of last use, and idle ones of each. */
const MOST_KEPT = 32;
const MOST_IDLE = 16;
/** How long the connection of a trial must stay open after its answer, and how many trials run at once. */
const TRIAL_MS = 1_000;
const MOST_TRIALS = 64;
/** Requests to a place that closes its connections until the next trial. */
const CLOSING_REQUESTS = 1_000;
/** Places that close their connections of which that is remembered; the earliest ones are forgotten first. */
const MOST_CLOSING = 1_000;

type Agent = PlainAgent | SecureAgent;

/** Whose connection a request takes. */
export interface Line {
  /** False for a connection of its own, which is closed after the answer. */
  readonly agent: Agent | false;
  /** To be told of the request before it is sent. */
  follow(request: ClientRequest): void;
}

/**
 * Keeps connections of callbacks open for the next one to the same place: the same scheme, name and port, at the same address. The
 * look-up and the check of each request do not change: a connection is reused only for an address that was found and checked again.
 *
 * A receiver may silently close its connections after each answer. A request that is on its way then is lost, and nobody knows
 * whether it arrived. So each place is tried first: one connection is left open after its answer, and other connections to the place
 * are kept only if that one stays open.
 */
export function createConnections(clock: { readonly after: After }): (destination: Destination) => Line {
  const kept = new Set<string>();
  /** How many requests are left until the next trial. */
  const closing = new Map<string, number>();
  const trying = new Set<string>();
  const keepers = { plain: new PlainKeeper(KEEPING), secure: new SecureKeeper(KEEPING) };

  function close(place: string): void {
    kept.delete(place);
    closing.delete(place);
    closing.set(place, CLOSING_REQUESTS);
    forgetEarliest(closing, MOST_CLOSING);
  }

  function keep(place: string): void {
    kept.delete(place);
    kept.add(place);
    forgetEarliest(kept, MOST_KEPT);
  }

  function reuse(place: string, agent: Agent): Line {
    keep(place);
    const follow = (request: ClientRequest) =>
      void request.on("error", () => {
        if (request.reusedSocket) close(place);
      });
    return { agent, follow };
  }

  function attempt(place: string, agent: Agent): Line {
    trying.add(place);
    let isAnswered = false;
    const end = (stays: boolean) => {
      if (!trying.delete(place)) return;
      // Nothing is known of a place that was not reached.
      if (isAnswered) (stays ? keep : close)(place);
      agent.destroy();
    };
    const follow = (request: ClientRequest) => {
      request.on("response", () => {
        isAnswered = true;
      });
      request.on("socket", (socket: Socket) => void socket.once("close", () => end(false)));
      request.on("error", () => end(false));
      request.on("close", () => void clock.after(TRIAL_MS, () => end(true)));
    };
    return { agent, follow };
  }

  return ({ url }) => {
    const place = url.origin;
    const isSecure = url.protocol === "https:";
    if (kept.has(place)) return reuse(place, isSecure ? keepers.secure : keepers.plain);
    const left = closing.get(place) ?? 0;
    if (left > 0) closing.set(place, left - 1);
    if (left > 0 || trying.has(place) || trying.size >= MOST_TRIALS) return OWN;
    return attempt(place, isSecure ? new SecureAgent(KEEPING) : new PlainAgent(KEEPING));
  };
}

/** A connection for one request alone. */
export const OWN: Line = { agent: false, follow: () => {} };

/** No session of TLS is resumed, so that every connection has its certificate checked. */
const KEEPING = {
  keepAlive: true,
  maxFreeSockets: MOST_IDLE,
  timeout: IDLE_MS,
  maxCachedSessions: 0,
} as const;

type Asked = { readonly headers?: { readonly Host?: unknown } };

/** Agents tell connections apart by address, port and TLS; these by the name that is asked for, too. */
class PlainKeeper extends PlainAgent {
  override getName(options: ClientRequestArgs & Asked): string {
    return `${super.getName(options)}:${options.headers?.Host}`;
  }
}

class SecureKeeper extends SecureAgent {
  override getName(options: ClientRequestArgs & Asked): string {
    return `${super.getName(options)}:${options.headers?.Host}`;
  }
}

function forgetEarliest(places: Set<string> | Map<string, unknown>, most: number): void {
  const [earliest] = places.size > most ? places.keys() : [];
  if (earliest !== undefined) places.delete(earliest);
}
