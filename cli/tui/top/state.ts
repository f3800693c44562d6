import type { Reading } from "../../client/overview.ts";
import { SORTS, TABLES, type TableName } from "./tables.ts";

/** What one reading, and those before it, come to. */
export interface Shown {
  readonly reading: Reading;
  /** By second, oldest first. */
  readonly requests: readonly number[];
  readonly creates: readonly number[];
}

export interface TopState {
  readonly server: string;
  /** The latest numbers; undefined before the first. */
  readonly live: Shown | undefined;
  /** What is shown while paused. */
  readonly frozen: Shown | undefined;
  /** Why the numbers are old. */
  readonly trouble: { readonly message: string; readonly forMs: number } | undefined;
  /** When the latest numbers came, in milliseconds of any clock. */
  readonly heardAt: number;
  readonly table: TableName;
  /** How each table is sorted, by index, and the first row that is shown. */
  readonly sorts: Readonly<Record<TableName, number>>;
  readonly starts: Readonly<Record<TableName, number>>;
  readonly isHelp: boolean;
}

export type TopEvent =
  | { readonly kind: "reading"; readonly reading: Reading; readonly at: number }
  | { readonly kind: "trouble"; readonly message: string; readonly at: number }
  | { readonly kind: "table"; readonly by: 1 | -1 }
  /** Scrolls the table by rows. @property height how many rows of it are seen */
  | { readonly kind: "scroll"; readonly by: number; readonly height: number }
  | { readonly kind: "sort" }
  | { readonly kind: "pause" }
  | { readonly kind: "help"; readonly isShown: boolean };

/** Seconds that are remembered: as many as the widest screen has room for. */
const MOST_SECONDS = 1_000;

export function initialState(server: string): TopState {
  return {
    server,
    ...{ live: undefined, frozen: undefined, trouble: undefined, heardAt: 0, isHelp: false },
    table: "models",
    sorts: { models: 0, lanes: 0, providers: 0 },
    starts: { models: 0, lanes: 0, providers: 0 },
  };
}

/** The numbers to show. */
export function shownOf({ live, frozen }: TopState): Shown | undefined {
  return frozen ?? live;
}

export function reduce(state: TopState, event: TopEvent): TopState {
  switch (event.kind) {
    case "reading":
      return { ...state, live: follow(state.live, event.reading), trouble: undefined, heardAt: event.at };
    case "trouble":
      return { ...state, trouble: { message: event.message, forMs: event.at - state.heardAt } };
    case "table":
      return { ...state, table: neighbour(state.table, event.by) };
    case "scroll":
      return scroll(state, event.by, event.height);
    case "sort": {
      const { table, sorts, starts } = state;
      const next = (sorts[table] + 1) % SORTS[table].length;
      return { ...state, sorts: { ...sorts, [table]: next }, starts: { ...starts, [table]: 0 } };
    }
    case "pause":
      return { ...state, frozen: state.frozen === undefined ? state.live : undefined };
    case "help":
      return state.isHelp === event.isShown ? state : { ...state, isHelp: event.isShown };
  }
}

/** Adds the seconds that are new, so that none is missing or there twice, however often the server is asked. */
function follow(before: Shown | undefined, reading: Reading): Shown {
  const isSameProcess = before !== undefined && before.reading.startedAt === reading.startedAt;
  const passed = isSameProcess ? Math.max(0, reading.seconds - before.reading.seconds) : MOST_SECONDS;
  const add = (known: readonly number[], latest: readonly number[]) => {
    if (!isSameProcess || passed > latest.length) return latest;
    return passed === 0 ? known : [...known, ...latest.slice(-passed)].slice(-MOST_SECONDS);
  };
  return {
    reading,
    requests: add(before?.requests ?? [], reading.requests.bySecond),
    creates: add(before?.creates ?? [], reading.creates.bySecond),
  };
}

function neighbour(table: TableName, by: 1 | -1): TableName {
  const at = TABLES.indexOf(table) + by + TABLES.length;
  return TABLES[at % TABLES.length] ?? table;
}

function scroll(state: TopState, by: number, height: number): TopState {
  const { table, starts } = state;
  const last = lastStart(shownOf(state)?.reading[table].length ?? 0, height);
  const start = Math.min(last, Math.max(0, Math.min(starts[table], last) + by));
  return start === starts[table] ? state : { ...state, starts: { ...starts, [table]: start } };
}

/** The furthest a list scrolls: its last row is then the last that is seen. */
export function lastStart(count: number, height: number): number {
  return Math.max(0, count - height);
}
