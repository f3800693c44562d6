import type { Finding } from "./finding.ts";
import type { ServedDeps } from "./served.ts";

/** `createServedChecks`, loaded at the first request, so that a start does not wait for it. */
export function createChecksAtUse(deps: ServedDeps): () => Promise<readonly Finding[]> {
  let checks: Promise<() => Promise<readonly Finding[]>> | undefined;
  return async () => {
    checks ??= import("./served.ts").then(({ createServedChecks }) => createServedChecks(deps));
    return (await checks)();
  };
}
