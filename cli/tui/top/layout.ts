import type { Reading } from "../../client/overview.ts";
import { formatAge } from "../../format/overview-view.ts";
import { formatSize } from "../../format/units.ts";
import type { Size } from "../kit/terminal.ts";
import { TABLES, type TableName } from "./tables.ts";

/** A screen at least this wide shows all tables side by side; others show one. */
const WIDE = 140;
/** Between two tables. */
export const PANEL_GAP = 3;
/** The least that one of the facts takes. */
const FACT_WIDTH = 26;

/** Where things are on a screen of some size. */
export interface Layout {
  readonly size: Size;
  /** The tables that are seen, with their widths. */
  readonly panels: readonly { readonly table: TableName; readonly width: number }[];
  /** Facts in a line, and how many cells each has. */
  readonly factsPerLine: number;
  readonly factWidth: number;
  /** Lines of facts that are seen. */
  readonly factLines: number;
  /** Rows of a table that are seen; 0 where there is no room for tables. */
  readonly tableHeight: number;
  /** Lines of help that are seen. */
  readonly helpHeight: number;
}

/** Lines of the title and the rates, and of the footer. */
const [ABOVE, BELOW] = [3, 1];
/** Lines above the rows of a table, and what a table takes with its first row. */
const TABLE_HEAD = 2;
const LEAST_TABLE = TABLE_HEAD + 1;

export function layoutOf(size: Size, table: TableName): Layout {
  const { columns, rows } = size;
  const factsPerLine = Math.max(1, Math.floor(columns / FACT_WIDTH));
  // More lines than a screen has would be squeezed into each other.
  const room = Math.max(0, rows - ABOVE - BELOW);
  const tableRoom = room < LEAST_TABLE ? 0 : LEAST_TABLE;
  const factLines = Math.min(Math.ceil(FACTS.length / factsPerLine), room - tableRoom);
  return {
    size,
    panels: columns < WIDE ? [{ table, width: columns }] : sideBySide(columns),
    factsPerLine,
    factWidth: Math.floor(columns / factsPerLine),
    factLines,
    tableHeight: tableRoom === 0 ? 0 : room - factLines - TABLE_HEAD,
    helpHeight: Math.max(0, rows - 1 - BELOW),
  };
}

function sideBySide(columns: number): Layout["panels"] {
  const [first, ...others] = TABLES;
  const width = Math.floor(columns * 0.3);
  return [
    { table: first, width: columns - (width + PANEL_GAP) * others.length },
    ...others.map((table) => ({ table, width })),
  ];
}

/** One figure of the service: its name, its value, and whether that needs somebody. */
export interface Fact {
  readonly name: string;
  readonly value: string;
  readonly isBad: boolean;
}

/** A loop that is this late makes requests wait. */
const LATE_MS = 100;
/** Below this, a disk will soon be full. */
const LITTLE_BYTES = 1_000_000_000;

const FACTS: readonly ((reading: Reading) => Fact)[] = [
  (reading) => {
    const oldest = Math.max(...reading.lanes.map(({ oldestSec }) => oldestSec ?? 0), 0);
    return fact("queued", reading.queued === 0 ? "0" : `${reading.queued} for ${formatAge(oldest)}`);
  },
  ({ underWay, limit }) => fact("running", `${underWay} of ${limit}`),
  ({ owed, owedOldestSec }) =>
    fact("callbacks", owed === 0 ? "0" : `${owed} for ${formatAge(owedOldestSec ?? 0)}`),
  ({ spend, currency }) => fact("spend 1h", `${spend.replace(/(\.\d\d)\d+$/, "$1")} ${currency}`),
  ({ rssBytes }) => fact("memory", formatSize(rssBytes)),
  ({ lagP50Ms, lagMaxMs }) =>
    fact("loop lag", `${Math.round(lagP50Ms)} to ${Math.round(lagMaxMs)} ms`, lagMaxMs >= LATE_MS),
  ({ freeBytes }) => fact("disk free", formatSize(freeBytes), freeBytes < LITTLE_BYTES),
  ({ dataBytes, walBytes }) => fact("database", `${formatSize(dataBytes)}+${formatSize(walBytes)}`),
  ({ waits }) => fact("waits", String(waits)),
  ({ streams }) => fact("streams", String(streams)),
  ({ checks }) => {
    const [refused, outages] = [total(checks, "refused"), total(checks, "outages")];
    return fact("refused", outages === 0 ? String(refused) : `${refused}, outages ${outages}`, outages > 0);
  },
];

export function factsOf(reading: Reading): Fact[] {
  return FACTS.map((read) => read(reading));
}

function total(checks: Reading["checks"], name: "refused" | "outages"): number {
  return checks.reduce((sum, check) => sum + check[name], 0);
}

function fact(name: string, value: string, isBad = false): Fact {
  return { name, value, isBad };
}
