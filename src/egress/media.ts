import { INPUT_TYPES } from "../domain/media/asset.ts";
import { type Egress, EgressError, type EgressRefusal } from "../domain/ports/egress.ts";
import { type Deadline, orAborted } from "../toolkit/deadline.ts";
import { startDownload } from "../toolkit/download.ts";
import { followRedirects } from "../toolkit/redirects.ts";
import { unpacked } from "../toolkit/unpacked.ts";
import { type EgressDeps, reasonOf } from "./deliver.ts";
import { type Destination, readDestination } from "./destination.ts";
import { fetchPinned } from "./pinned.ts";
import { checkedAddresses } from "./resolve.ts";

const HEADERS = {
  Accept: INPUT_TYPES.join(", "),
  "User-Agent": "Service-Fetch/1.0",
};

/** Fetches a media file; see Egress.fetchMedia. */
export function fetchMedia(
  deps: EgressDeps,
  text: string,
  options: Parameters<Egress["fetchMedia"]>[1],
): Promise<AsyncIterable<Uint8Array>> {
  const { clock, limits: own } = deps;
  const callers = {
    ...{ answerMs: own.mediaAnswerMs, idleMs: own.mediaIdleMs, totalMs: own.mediaTotalMs },
    leastBytesPerMs: own.mediaLeastBytesPerMs,
  };
  const { maxBytes, signal, accept = HEADERS.Accept, limits = callers } = options;
  return startDownload(
    {
      clock,
      limits,
      maxBytes,
      request: (each) => follow(deps, text, { ...HEADERS, Accept: accept }, each),
      refuseStatus: (status) =>
        status === 200
          ? undefined
          : new EgressError("bad_status", `was answered with status ${status}`, undefined, status),
      tooLarge: () => tooLarge(maxBytes),
      explain: explained,
    },
    signal,
  );
}

/** Follows redirects. Each hop is checked like the URL given. */
function follow(
  deps: EgressDeps,
  text: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  const request = async (url: string, hops: number) => {
    const destination = permitted(
      readDestination(url, "media", deps.guard),
      hops === 0 ? "" : "redirects to a URL that ",
    );
    const addresses = await orAborted(checkedAddresses(deps, destination, "media", signal), signal);
    return unpacked(await fetchPinned(destination, addresses, { headers, signal, ca: deps.ca }));
  };
  return followRedirects(text, request, {
    max: deps.limits.mediaRedirects,
    refuse: (problem) => new EgressError("bad_status", problem),
  });
}

function permitted(destination: Destination | { refusal: EgressRefusal }, prefix: string): Destination {
  if (!("refusal" in destination)) return destination;
  throw new EgressError("forbidden", `${prefix}${destination.refusal.clause}`);
}

function tooLarge(maxBytes: number): EgressError {
  const size =
    maxBytes < 1024 * 1024 ? `${rounded(maxBytes / 1024)} KB` : `${rounded(maxBytes / 1024 / 1024)} MB`;
  return new EgressError("too_large", `is larger than ${size}`);
}

function rounded(size: number): number {
  return Math.round(size * 10) / 10;
}

/** Says what the address did. */
function explained(error: unknown, deadline: Deadline): unknown {
  if (error instanceof EgressError) return error;
  if (deadline.signal.aborted) return new EgressError("timeout", "did not answer in time", error);
  return new EgressError("unreachable", `could not be read (${reasonOf(error)})`, error);
}
