import type { Reading } from "../../client/overview.ts";
import { interrupted } from "../../client/retry.ts";
import type { Failure } from "../../failure.ts";
import { openScreen } from "../kit/screen.tsx";
import { askedBy } from "./keys.ts";
import { layoutOf } from "./layout.ts";
import { initialState, reduce, type TopEvent, type TopState } from "./state.ts";
import { lookOf, TopView } from "./view.tsx";

export interface TopScreen {
  show(reading: Reading): void;
  /** Keeps the last numbers, and says why there are no new ones. */
  lose(failure: Failure): void;
  /** Gives the terminal back, for a reason. */
  end(error: unknown): void;
  /** Resolves when a person ends it; rejects if anything else does. Either way the terminal is restored. */
  readonly closed: Promise<void>;
}

/** Takes over the terminal and shows the first reading. */
export function openTop(
  first: Reading,
  { server, isColoured, now }: { server: string; isColoured: boolean; now: () => number },
): TopScreen {
  const look = lookOf(isColoured);
  const screen = openScreen<TopState, TopEvent>({
    initial: reduce(initialState(server), { kind: "reading", reading: first, at: now() }),
    reduce,
    draw: (state, size) => <TopView state={state} layout={layoutOf(size, state.table)} look={look} />,
    onKey(key, on) {
      const { table, isHelp } = on.state();
      const asked = askedBy(key, isHelp, layoutOf(on.size(), table).tableHeight);
      if (asked === undefined) return;
      if (asked.kind === "quit") on.close();
      else if (asked.kind === "interrupt") on.close(interrupted());
      else on.dispatch(asked);
    },
  });
  return {
    show: (reading) => screen.dispatch({ kind: "reading", reading, at: now() }),
    lose: ({ message }) => screen.dispatch({ kind: "trouble", message, at: now() }),
    end: screen.close,
    closed: screen.closed,
  };
}
