import { networkInterfaces } from "node:os";
import type { Egress } from "../domain/ports/egress.ts";
import type { Clock } from "../domain/ports/runtime.ts";
import type { After } from "../toolkit/deadline.ts";
import { type AddressGuard, createAddressGuard } from "./address.ts";
import { ask } from "./ask.ts";
import { createConnections } from "./connections.ts";
import { deliver, type EgressDeps } from "./deliver.ts";
import { readDestination } from "./destination.ts";
import { EGRESS_LIMITS, type EgressLimits } from "./limits.ts";
import { fetchMedia } from "./media.ts";
import type { Resolve } from "./resolve.ts";
import { createSystemResolve } from "./system-resolve.ts";

export interface EgressOptions {
  /** CIDR ranges that are allowed although they are not public; asked at each request where they may change. */
  readonly allow: readonly string[] | (() => readonly string[]);
  readonly resolve?: Resolve | undefined;
  /** Times the deadlines, and the pace of what is fetched. Default: the runtime's timers, by which any pace will do. */
  readonly clock?: Pick<Clock, "after" | "elapsed"> | undefined;
  /** Lists this machine's addresses, at each check. */
  readonly localAddresses?: (() => readonly string[]) | undefined;
  readonly limits?: Partial<EgressLimits> | undefined;
  /** PEM of the authorities to trust instead of the public ones. */
  readonly ca?: string | undefined;
}

/** @throws Error when `allow` is not a list of CIDR ranges */
export function createEgress(options: EgressOptions): Egress {
  const clock = options.clock ?? { after: startTimer, elapsed: () => 0 };
  const guardNow = followGuard(options);
  const deps: EgressDeps = {
    get guard() {
      return guardNow();
    },
    resolve: options.resolve ?? createSystemResolve(clock),
    clock,
    limits: { ...EGRESS_LIMITS, ...options.limits },
    ca: options.ca,
    lineTo: createConnections(clock),
  };
  return {
    refusal: (url, use = "callback") => {
      const destination = readDestination(url, use, deps.guard);
      return "refusal" in destination ? destination.refusal : undefined;
    },
    fetchMedia: (url, fetchOptions) => fetchMedia(deps, url, fetchOptions),
    deliver: (url, post, signal) => deliver(deps, url, post, signal),
    ask: (url, post, askOptions) => ask(deps, url, post, askOptions),
  };
}

/** Makes the guard anew when the ranges are others. */
function followGuard({ allow, localAddresses = interfaceAddresses }: EgressOptions): () => AddressGuard {
  const ranges = typeof allow === "function" ? allow : () => allow;
  let of = ranges();
  let guard = createAddressGuard(of, localAddresses);
  return () => {
    if (of !== ranges()) {
      of = ranges();
      guard = createAddressGuard(of, localAddresses);
    }
    return guard;
  };
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries = []) => entries.map(({ address }) => address));
}

const startTimer: After = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
};
