import { abandon, isDeclaredLarger, type Pace, readBounded } from "./bounded-body.ts";
import { type After, type Deadline, startDeadline } from "./deadline.ts";

export interface DownloadLimits {
  /** Until the answer's headers, redirects included. */
  readonly answerMs: number;
  /** The longest pause between two pieces. */
  readonly idleMs: number;
  /** For the whole file. */
  readonly totalMs: number;
  /** The slowest that it may come after a pause of `idleMs`; any pace unless given. */
  readonly leastBytesPerMs?: number | undefined;
}

export interface Download {
  readonly clock: { readonly after: After; readonly elapsed: () => number };
  readonly limits: DownloadLimits;
  readonly maxBytes: number;
  /** Requests the file, its redirects included. */
  readonly request: (signal: AbortSignal) => Promise<Response>;
  /** The error for an answer with this status; undefined when its body is the file. */
  readonly refuseStatus: (status: number) => Error | undefined;
  readonly tooLarge: () => Error;
  /** The error to throw for one that ends the download, unless the caller aborted it. */
  readonly explain: (error: unknown, deadline: Deadline) => unknown;
}

/**
 * Downloads a file piece by piece, within one deadline for its phases.
 *
 * @throws what `explain` makes of the error; the reason of `caller` when that aborted
 */
export async function startDownload(
  download: Download,
  caller: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  caller.throwIfAborted();
  const { limits, maxBytes, tooLarge } = download;
  const total = { delayMs: limits.totalMs, what: "the file did not come" };
  const deadline = startDeadline(download.clock, caller, total);
  const explain = (error: unknown) => (caller.aborted ? caller.reason : download.explain(error, deadline));
  deadline.phase(limits.answerMs, "no answer");
  try {
    const response = await download.request(deadline.signal);
    const fault = faultOf(response, download);
    if (fault !== undefined) {
      abandon(response);
      throw fault;
    }
    const idle = { deadline, delayMs: limits.idleMs, what: "the rest of the file did not come" };
    deadline.phase(idle.delayMs, idle.what);
    return readBounded(response, { maxBytes, tooLarge, idle, pace: paceOf(download), explain });
  } catch (error) {
    deadline.end();
    throw explain(error);
  }
}

function paceOf({ limits: { leastBytesPerMs }, clock: { elapsed } }: Download): Pace | undefined {
  return leastBytesPerMs === undefined ? undefined : { leastBytesPerMs, elapsed };
}

function faultOf(response: Response, download: Download): Error | undefined {
  const fault = download.refuseStatus(response.status);
  if (fault !== undefined) return fault;
  return isDeclaredLarger(response, download.maxBytes) ? download.tooLarge() : undefined;
}
