import type { LaneId } from "../../domain/ids.ts";
import type { Egress } from "../../domain/ports/egress.ts";
import type { Rates } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { DownloadLimits } from "../../toolkit/download.ts";
import type { HttpLimits } from "./http.ts";
import type { Network } from "./network.ts";

/** What every coded adapter of an account is made of. */
export interface AdapterDeps {
  /** Where its paths begin: scheme, host and an optional path. */
  readonly baseUrl: string;
  readonly concurrency: number;
  /** That of the provider's default account unless given. */
  readonly lane?: LaneId | undefined;
  readonly rates?: Rates | undefined;
  readonly clock: Clock;
  /** What requests go through. */
  readonly proxy?: string | undefined;
  readonly network?: Network | undefined;
  readonly limits?: HttpLimits | undefined;
}

/** The same where outputs may lie elsewhere. */
export interface DownloadingDeps extends AdapterDeps {
  /** For files that are kept or redirected elsewhere, and for keys that prove an upstream's calls. */
  readonly fetchPublic?: Egress["fetchMedia"] | undefined;
  readonly mediaLimits?: DownloadLimits | undefined;
}
