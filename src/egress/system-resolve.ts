import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import type { After } from "../toolkit/deadline.ts";
import type { Resolve } from "./resolve.ts";

export interface SystemResolveOptions {
  readonly after: After;
  /** `address:port` of the servers to ask instead of those in resolv.conf. */
  readonly servers?: readonly string[] | undefined;
  readonly hostsFile?: string | undefined;
  readonly resolvConfFile?: string | undefined;
}

/** The first try waits a second, each further one twice as long: seven seconds with one server, of the ten a callback has. */
const QUERY = { timeout: 1_000, tries: 3 };
/** Extra time for the other address family once one has answered. Many servers drop queries they do not know. */
const OTHER_FAMILY_MS = 500;
const NOT_THERE = new Set(["ENOTFOUND", "ENODATA"]);

/**
 * Resolves names like the machine: `/etc/hosts`, then the servers and search domains of `/etc/resolv.conf`, read at each look-up.
 *
 * Does not use the system's `getaddrinfo`, which blocks one of the runtime's few threads until the servers answer. Callers choose
 * the servers by choosing names: two silent ones would stop every look-up, file read and compression on a small machine. Caches
 * nothing, so that answers cannot fill memory. Aborting a look-up ends it.
 */
export function createSystemResolve(options: SystemResolveOptions): Resolve {
  const { after, servers, hostsFile = "/etc/hosts", resolvConfFile = "/etc/resolv.conf" } = options;

  async function ask(name: string, signal: AbortSignal): Promise<string[]> {
    signal.throwIfAborted();
    const resolver = new Resolver(QUERY);
    if (servers !== undefined) resolver.setServers([...servers]);
    const cancel = () => resolver.cancel();
    const timers: (() => void)[] = [];
    const hurryOther = (found: string[]) => {
      if (found.length > 0) timers.push(after(OTHER_FAMILY_MS, cancel));
      return found;
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const answers = await Promise.allSettled([
        resolver.resolve4(name).then(hurryOther),
        resolver.resolve6(name).then(hurryOther),
      ]);
      signal.throwIfAborted();
      const [v4, v6] = answers.map((answer) => (answer.status === "fulfilled" ? answer.value : []));
      const found = inTurn(v4 ?? [], v6 ?? []);
      const failure = answers.find((answer) => answer.status === "rejected" && !isNotThere(answer.reason));
      if (found.length === 0 && failure?.status === "rejected") throw failure.reason;
      return found;
    } finally {
      signal.removeEventListener("abort", cancel);
      for (const stop of timers) stop();
    }
  }

  return async (host, signal) => {
    const name = host.toLowerCase().replace(/\.$/, "");
    const known = knownAddresses(await textOf(hostsFile), name);
    if (known.length > 0) return known;
    if (/^(.+\.)?localhost$/.test(name)) return ["127.0.0.1"];
    for (const candidate of candidates(host, await textOf(resolvConfFile))) {
      const found = await ask(candidate, signal);
      if (found.length > 0) return found;
    }
    return [];
  };
}

/** A missing file counts as empty. */
function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

function isNotThere(error: unknown): boolean {
  return error instanceof Error && "code" in error && NOT_THERE.has(String(error.code));
}

function words(line: string): string[] {
  return line
    .replace(/[#;].*/, "")
    .trim()
    .split(/\s+/);
}

function knownAddresses(hosts: string, name: string): string[] {
  const lines = hosts.split("\n").filter((line) => line.toLowerCase().includes(name));
  return lines.flatMap((line) => {
    const [address = "", ...names] = words(line);
    return isIP(address) !== 0 && names.some((each) => each.toLowerCase() === name) ? [address] : [];
  });
}

/** The names to ask for, in order. Search domains come first for a name with few dots; a final dot excludes them. */
function candidates(host: string, resolvConf: string): string[] {
  if (host.endsWith(".")) return [host];
  let domains: string[] = [];
  let minDots = 1;
  for (const line of resolvConf.split("\n")) {
    const [keyword, ...values] = words(line);
    if (keyword === "search" || keyword === "domain") domains = values;
    if (keyword !== "options") continue;
    for (const value of values) minDots = Number(/^ndots:(\d{1,2})$/.exec(value)?.[1] ?? minDots);
  }
  const searched = domains.filter((domain) => domain !== ".").map((domain) => `${host}.${domain}`);
  const isWhole = host.split(".").length - 1 >= minDots;
  return isWhole ? [host, ...searched] : [...searched, host];
}

/** Alternates between two lists, so that an unreachable family does not use up the tries. */
function inTurn(one: readonly string[], other: readonly string[]): string[] {
  const length = Math.max(one.length, other.length);
  return Array.from({ length }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((address) => address !== undefined);
}
