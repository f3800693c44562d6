import { type Egress, EgressError } from "../../domain/ports/egress.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import type { Current } from "./context.ts";
import type { Incoming, RecordedFiles } from "./files.ts";
import type { ExchangeLine } from "./format.ts";
import { withoutAddressKeys } from "./masking.ts";
import type { Tape } from "./tape.ts";

type FetchMedia = Egress["fetchMedia"];

interface Fetching {
  readonly files: RecordedFiles;
  readonly clock: Clock;
  readonly current: () => Current | undefined;
  readonly add: (current: Current, lines: Parameters<Tape["add"]>[0]) => void;
}

/** Such files are a caller's or an upstream's: no account's secret is sent for them. */
const NO_SECRETS = { mask: (text: string) => text, isIn: () => false };

/** Fetches files, and writes down those that are for a task. */
export function recordedFetch(fetchMedia: FetchMedia, { files, clock, current, add }: Fetching): FetchMedia {
  return async (url, options) => {
    const task = current();
    if (task === undefined) return await fetchMedia(url, options);
    const at = new Date(clock.now()).toISOString();
    const line = (came: Pick<ExchangeLine, "answer" | "none">): ExchangeLine => {
      const sent = { method: "GET", url: withoutAddressKeys(url), headers: {} };
      return { ...{ use: "file", at, sent }, ...came };
    };
    const failed = (error: unknown) => {
      if (!options.signal.aborted) add(task, () => [line({ none: noneOf(error) })]);
    };
    try {
      const content = await fetchMedia(url, options);
      const incoming = files.incoming(NO_SECRETS);
      const stored = () =>
        add(task, async () => [line({ answer: { status: 200, headers: {}, body: await incoming.end() } })]);
      return copied(content, incoming, { stored, failed });
    } catch (error) {
      failed(error);
      throw error;
    }
  };
}

async function* copied(
  content: AsyncIterable<Uint8Array>,
  incoming: Incoming,
  to: { stored(): void; failed(error: unknown): void },
): AsyncGenerator<Uint8Array> {
  let isWhole = false;
  try {
    for await (const piece of content) {
      incoming.add(piece);
      yield piece;
    }
    isWhole = true;
    to.stored();
  } catch (error) {
    to.failed(error);
    throw error;
  } finally {
    if (!isWhole) void incoming.drop();
  }
}

function noneOf(error: unknown): NonNullable<ExchangeLine["none"]> {
  if (!(error instanceof EgressError)) return { why: error instanceof Error ? error.message : String(error) };
  return { why: error.message, reason: error.reason };
}
