import ipaddr from "ipaddr.js";
import type { Clock } from "../domain/ports/runtime.ts";
import { startDeadline } from "../toolkit/deadline.ts";
import { type Found, identify } from "./engines.ts";
import { createUpstream, NoAnswer } from "./kit/http.ts";

/** An engine at an address. */
export interface Discovered extends Found {
  /** `http://127.0.0.1:8188` */
  readonly origin: string;
}

export interface Discovery {
  readonly found: readonly Discovered[];
  /** Ranges with too many addresses to look at. */
  readonly skipped: readonly string[];
}

/** ComfyUI, web UIs, LocalAI and sd-server, Ollama, vLLM, LM Studio and sd-server, svc. */
const USUAL_PORTS = [8188, 7860, 7861, 8080, 11434, 8000, 1234, 8787];
const LOOPBACK = ["127.0.0.1", "[::1]"];
/** Addresses of a range that are looked at. */
const MOST_OF_RANGE = 16;
const MOST_HOSTS = 64;
const WITHIN_MS = 1_900;
const LIMITS = { connectMs: 500, answerMs: 1_200, bodyMs: 1_200 };
const ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Searches for engines at the usual ports of this machine and of the addresses that the operator allows, all at once and within two
 * seconds. Nothing else is contacted: no name is looked up, no redirect to another address followed, no proxy used.
 *
 * @param given.ports looked at besides the usual ones
 * @param given.allow ranges of addresses
 */
export async function discover(
  given: { readonly ports: readonly number[]; readonly allow: readonly string[] },
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Discovery> {
  const skipped: string[] = [];
  const hosts = new Set(LOOPBACK);
  for (const range of given.allow) {
    const inside = hostsIn(range);
    if (inside === undefined || hosts.size + inside.length > MOST_HOSTS) skipped.push(range);
    else for (const host of inside) hosts.add(host);
  }
  const ports = [...new Set([...USUAL_PORTS, ...given.ports])];
  const origins = [...hosts].flatMap((host) => ports.map((port) => `http://${host}:${port}`));
  const deadline = startDeadline(clock, signal, { delayMs: WITHIN_MS, what: "nothing was found" });
  try {
    const all = await Promise.all(origins.map((origin) => look(origin, clock, deadline.signal)));
    signal.throwIfAborted();
    return { found: withoutTwins(all.flatMap((each) => each ?? [])), skipped };
  } finally {
    deadline.end();
  }
}

async function look(origin: string, clock: Clock, signal: AbortSignal): Promise<Discovered | undefined> {
  const upstream = createUpstream({
    name: origin,
    baseUrl: origin,
    credentials: {},
    secrets: [],
    clock,
    limits: LIMITS,
  });
  let isThere = true;
  const ask = async (url: string) => {
    if (!isThere) return undefined;
    try {
      const { status, json } = await upstream.send({ method: "GET", url, maxBytes: ANSWER_BYTES }, signal);
      return status === 200 ? json : undefined;
    } catch (error) {
      if (!(error instanceof NoAnswer) && !signal.aborted) throw error;
      isThere = false;
      return undefined;
    }
  };
  const found = await identify(ask);
  return found && { origin, ...found };
}

/** The addresses of a range, as a URL has them; undefined for one that has too many. */
export function hostsIn(range: string): readonly string[] | undefined {
  const [address, bits] = ipaddr.parseCIDR(range);
  const width = address.kind() === "ipv4" ? 32 : 128;
  const count = 2 ** (width - bits);
  if (count > MOST_OF_RANGE) return undefined;
  const bytes = address.toByteArray();
  const last = (bytes.at(-1) ?? 0) & ~(count - 1);
  return Array.from({ length: count }, (_, i) => {
    const each = ipaddr.fromByteArray([...bytes.slice(0, -1), last + i]);
    return each.kind() === "ipv6" ? `[${each.toString()}]` : each.toString();
  });
}

/** One server that listens at both addresses of this machine is one. */
function withoutTwins(found: readonly Discovered[]): readonly Discovered[] {
  const key = ({ origin, engine }: Discovered) => `${engine} ${new URL(origin).port}`;
  const first = new Set(found.filter(({ origin }) => origin.includes("127.0.0.1:")).map(key));
  return found.filter((each) => !each.origin.includes("[::1]") || !first.has(key(each)));
}
