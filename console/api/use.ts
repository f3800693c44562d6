import { useEffect, useRef, useState } from "preact/hooks";
import { isPassing } from "./ask.ts";
import { reconnections } from "./connection.ts";
import { comings } from "./session.ts";
import { follow, type StreamEvent, type StreamName, type StreamState } from "./stream.ts";

/** What was read: data of an earlier read stays while the next one runs. */
export interface Reading<Data> {
  readonly data: Data | undefined;
  readonly problem: unknown;
  readonly isReading: boolean;
  readonly again: () => void;
  /** Puts something in the data's place, such as what a stream told. */
  readonly change: (change: (data: Data) => Data) => void;
}

/**
 * Reads when a part appears, when `about` changes, and when the service answers again.
 *
 * @param about tells one read from another, such as the address of what is read
 * @param keep what is read anew with what stays of the data before, such as the later pages of a list
 */
export function useReading<Data>(
  about: string,
  read: (signal: AbortSignal) => Promise<Data>,
  keep?: (fresh: Data, before: Data) => Data,
): Reading<Data> {
  const [state, setState] = useState<{ about: string; data?: Data; problem?: unknown; isReading: boolean }>({
    about,
    isReading: true,
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef({ read, keep });
  latest.current = { read, keep };
  const seen = reconnections.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each of these is a reason to read again
  useEffect(() => {
    const left = new AbortController();
    setState((before) =>
      before.about === about ? { ...before, isReading: true } : { about, isReading: true },
    );
    latest.current.read(left.signal).then(
      (fresh) => {
        if (left.signal.aborted) return;
        setState(({ data: before }) => {
          const { keep: kept } = latest.current;
          const data = before === undefined || kept === undefined ? fresh : kept(fresh, before);
          return { about, data, isReading: false };
        });
      },
      (problem: unknown) => {
        if (left.signal.aborted) return;
        // While the connection is lost, what was read stays.
        setState((before) => ({
          ...before,
          isReading: false,
          problem: isPassing(problem) && before.data !== undefined ? undefined : problem,
        }));
      },
    );
    return () => left.abort();
  }, [about, turn, seen]);
  const isCurrent = state.about === about;
  return {
    data: isCurrent ? state.data : undefined,
    problem: isCurrent ? state.problem : undefined,
    isReading: !isCurrent || state.isReading,
    again: () => setTurn((before) => before + 1),
    change: (change) =>
      setState((before) => (before.data === undefined ? before : { ...before, data: change(before.data) })),
  };
}

/**
 * Reads again and again while a part is shown and the page is in sight, and at once when it comes back into sight. An answer that takes
 * longer is waited for.
 *
 * @param everyMs undefined: not at present
 */
export function useEvery(
  everyMs: number | undefined,
  reading: Pick<Reading<unknown>, "isReading" | "again">,
): void {
  const latest = useRef(reading);
  latest.current = reading;
  useEffect(() => {
    if (everyMs === undefined) return;
    const read = () => {
      if (!document.hidden && !latest.current.isReading) latest.current.again();
    };
    const timer = setInterval(read, everyMs);
    document.addEventListener("visibilitychange", read);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", read);
    };
  }, [everyMs]);
}

/** Follows a stream while a part is shown. Nothing is followed without a name. */
export function useStream<Name extends StreamName>(
  name: Name | undefined,
  parts: Readonly<Record<string, string>>,
  onEvent: (event: StreamEvent<Name>) => void,
  onState?: (state: StreamState) => void,
): void {
  const latest = useRef({ onEvent, onState });
  latest.current = { onEvent, onState };
  const about = JSON.stringify(parts);
  const seen = comings.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever came in again follows anew
  useEffect(() => {
    if (name === undefined) return;
    const left = new AbortController();
    const tell = (state: StreamState) => {
      if (!left.signal.aborted) latest.current.onState?.(state);
    };
    tell({ kind: "opening" });
    // What may not be followed is not live; the screen says what it can.
    follow(name, JSON.parse(about), (event) => latest.current.onEvent(event), left.signal, tell).catch(
      (problem: unknown) => tell({ kind: "refused", problem }),
    );
    return () => left.abort();
  }, [name, about, seen]);
}

/**
 * Follows changes of what was read. What changed before the stream began is read anew, such as while the page was out of sight. What is
 * told during a read is taken once more after it: the answer may be older.
 */
export function useChanges<Name extends StreamName>(
  name: Name | undefined,
  parts: Readonly<Record<string, string>>,
  { isReading, again }: Pick<Reading<unknown>, "isReading" | "again">,
  take: (event: StreamEvent<Name>) => void,
): void {
  const [isBehind, setBehind] = useState(false);
  const told = useRef<StreamEvent<Name>[]>([]);
  useStream(
    name,
    parts,
    (event) => {
      if (isReading) told.current.push(event);
      take(event);
    },
    (state) => {
      if (state.kind === "live" && state.isAnew) setBehind(true);
    },
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: at the end of a read
  useEffect(() => {
    if (isReading) return;
    for (const event of told.current.splice(0)) take(event);
    if (!isBehind) return;
    setBehind(false);
    again();
  }, [isReading, isBehind]);
}
