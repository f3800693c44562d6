import type { Egress } from "../domain/ports/egress.ts";
import { EgressError } from "../domain/ports/egress.ts";

export function createEgress(_options: { allow: readonly string[] }): Egress {
  return {
    refusal: (url) => (url.startsWith("https:") ? undefined : "must be an https URL"),
    fetchMedia: async () => {
      throw new EgressError("unreachable", "cannot be reached");
    },
    deliver: async () => ({ kind: "unreachable", reason: "x" }),
  };
}
