import type { LaneRow, ModelRow, ProviderRow, Reading } from "../../client/overview.ts";
import { LANE_CELLS, MODEL_CELLS, PROVIDER_CELLS } from "../../format/overview-view.ts";
import { fitCells } from "../kit/cells.ts";

export const TABLES = ["models", "lanes", "providers"] as const;
export type TableName = (typeof TABLES)[number];

interface Rows {
  readonly models: ModelRow;
  readonly lanes: LaneRow;
  readonly providers: ProviderRow;
}

/** A column by its title: cells wide, or as wide as what is left. */
interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly width: number | "rest";
  readonly align: "left" | "right";
}

/** An order of rows, and the column it is shown at. */
interface Sort<Row> {
  readonly title: string;
  readonly compare: (a: Row, b: Row) => number;
}

const columnsOf = <Row>(
  cells: Readonly<Record<string, (row: Row) => string>>,
  widths: Readonly<Record<string, number | "rest">>,
): Column<Row>[] =>
  Object.entries(cells).map(([title, cell], i) => {
    const width = widths[title] ?? 8;
    return { title, cell, width, align: i === 0 || width === "rest" ? "left" : "right" };
  });

const COLUMNS: { readonly [Name in TableName]: readonly Column<Rows[Name]>[] } = {
  models: columnsOf(MODEL_CELLS, { MODEL: "rest", DONE: 7, FAILED: 8, OK: 7, P50: 7, P95: 7 }),
  lanes: columnsOf(LANE_CELLS, { LANE: "rest", QUEUED: 8, OLDEST: 8, "UNDER WAY": 11, LIMIT: 7 }),
  providers: columnsOf(PROVIDER_CELLS, { PROVIDER: 14, DONE: 7, FAILED: 8, OK: 7, REFUSED: "rest" }),
};

const up = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
const most =
  <Row>(value: (row: Row) => number | undefined) =>
  (a: Row, b: Row): number =>
    (value(b) ?? -1) - (value(a) ?? -1);
const least =
  <Row>(value: (row: Row) => number | undefined) =>
  (a: Row, b: Row): number =>
    (value(a) ?? Number.MAX_VALUE) - (value(b) ?? Number.MAX_VALUE);

/** The orders that `s` goes through. Rows that are equal keep the server's order, by name. */
export const SORTS: { readonly [Name in TableName]: readonly Sort<Rows[Name]>[] } = {
  models: [
    { title: "MODEL", compare: (a, b) => up(a.model, b.model) },
    { title: "DONE", compare: most((row) => row.completed) },
    { title: "FAILED", compare: most((row) => row.failed) },
    { title: "OK", compare: least((row) => row.successRate) },
    { title: "P95", compare: most((row) => row.p95Ms) },
  ],
  lanes: [
    { title: "LANE", compare: (a, b) => up(a.lane, b.lane) },
    { title: "QUEUED", compare: most((row) => row.queued) },
    { title: "OLDEST", compare: most((row) => row.oldestSec) },
    { title: "UNDER WAY", compare: most((row) => row.underWay) },
  ],
  providers: [
    { title: "PROVIDER", compare: (a, b) => up(a.provider, b.provider) },
    { title: "FAILED", compare: most((row) => row.failed) },
    { title: "OK", compare: least((row) => row.successRate) },
  ],
};

export interface TableLines {
  readonly head: string;
  readonly rows: readonly { readonly id: string; readonly line: string }[];
}

/** A table's heading and its rows, each exactly `width` cells. The column that it is sorted by has a mark. */
export function tableLines(name: TableName, reading: Reading, sort: number, width: number): TableLines {
  const rows = { models: reading.models, lanes: reading.lanes, providers: reading.providers };
  return linesOf(COLUMNS[name], SORTS[name][sort], rows[name], width);
}

/** The types of columns, order and rows are those of one table: `tableLines` takes them by one name. */
function linesOf(
  columns: readonly Column<never>[],
  sort: Sort<never> | undefined,
  rows: readonly object[],
  width: number,
): TableLines {
  const fixed = columns.reduce((sum, column) => sum + (column.width === "rest" ? 0 : column.width), 0);
  const widthOf = (column: Column<never>) =>
    column.width === "rest" ? Math.max(1, width - fixed) : column.width;
  const line = (cells: readonly string[]) =>
    fitCells(
      columns
        .map((column, i) =>
          cellText(cells[i] ?? "", widthOf(column), { align: column.align, isFirst: i === 0 }),
        )
        .join(""),
      width,
    );
  const mine = rows as readonly never[];
  const sorted = sort === undefined ? mine : [...mine].sort(sort.compare);
  return {
    head: line(columns.map(({ title }) => (title === sort?.title ? `${title}▾` : title))),
    rows: sorted.map((row) => {
      const cells = columns.map((column) => column.cell(row));
      return { id: cells[0] ?? "", line: line(cells) };
    }),
  };
}

/** Keeps a cell free on the left of all but the first column, and on the right of text. */
function cellText(
  text: string,
  width: number,
  { align, isFirst }: { align: "left" | "right"; isFirst: boolean },
): string {
  const before = isFirst ? "" : " ";
  const after = align === "left" ? " " : "";
  return before + fitCells(text, width - before.length - after.length, align) + after;
}
