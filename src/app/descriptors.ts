import { descriptorLimit } from "../runtime/descriptors.ts";

/** The assumed limit if the system does not say how many there are. */
const ASSUMED_DESCRIPTORS = 8_192;

/** Shares of the descriptors that a process may have. The rest is for short requests, uploads, files and upstreams. */
const PARTS = { stays: 1 / 2, callbacks: 1 / 8 } as const;

/** How many connections of a kind may be open at one time. */
export function mostConnections(kind: keyof typeof PARTS): number {
  return Math.max(1, Math.floor((descriptorLimit() ?? ASSUMED_DESCRIPTORS) * PARTS[kind]));
}
