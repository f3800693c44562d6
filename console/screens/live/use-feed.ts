import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { nowMs } from "../../api/connection.ts";
import { comings, type Role } from "../../api/session.ts";
import type { StreamState } from "../../api/stream.ts";
import { useReading, useStream } from "../../api/use.ts";
import { createFeed, type Filters, readPast, type View } from "./feed.ts";

/** However fast tasks change, the page is drawn no more often: milliseconds. */
const DRAW_MS = 200;

export interface Live {
  readonly view: View;
  /** Whether there is something to show. */
  readonly isRead: boolean;
  readonly problem: unknown;
  readonly again: () => void;
  readonly stream: StreamState;
  /** When the stream broke or was back the last time, Unix seconds; undefined: it never broke. */
  readonly turnedAt: number | undefined;
}

/** Tasks as they change, from when a part appears. Filters do not change while it is shown. */
export function useFeed(role: Role, filters: Filters): Live {
  const [feed] = useState(() => createFeed(filters));
  const [view, setView] = useState(feed.view);
  const { stream, turnedAt, hasBegun, onState } = useStreamState();
  const drawing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(drawing.current), []);
  const reading = useReading(`live ${comings.value}`, async (signal) => {
    const look = feed.look();
    try {
      // What changes from now on is told: nothing is missed between the lists and the stream.
      await hasBegun;
      feed.past(look, await readPast(role, filters, signal));
    } catch (error) {
      feed.forget(look);
      throw error;
    }
    setView(feed.view());
    return true;
  });
  useStream(
    role === "operator" ? "GET /admin/v1/events" : "GET /v1/events",
    {},
    ({ data }) => {
      feed.tell(data, nowSec());
      drawing.current ??= setTimeout(() => {
        drawing.current = undefined;
        setView(feed.view());
      }, DRAW_MS);
    },
    onState,
  );
  const { data: isRead = false, problem, again } = reading;
  return { view, isRead, problem, again, stream, turnedAt };
}

function useStreamState() {
  const coming = comings.value;
  const [stream, setStream] = useState<StreamState>({ kind: "opening" });
  const [turnedAt, setTurnedAt] = useState<number>();
  const isBroken = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever came in again follows anew
  const begun = useMemo(() => Promise.withResolvers<void>(), [coming]);
  const onState = (state: StreamState) => {
    setStream(state);
    if (state.kind === "opening") return;
    begun.resolve();
    const wasBroken = isBroken.current;
    isBroken.current = state.kind === "broken";
    if (wasBroken !== isBroken.current) setTurnedAt(nowSec());
  };
  return { stream, turnedAt, hasBegun: begun.promise, onState };
}

/** The present time by the service's clock. */
export function nowSec(): number {
  return nowMs() / 1_000;
}
