import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useSight } from "./sight.ts";
import { type Column, Head, lookOf, ROW, TableBox } from "./table.tsx";

interface Props<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The rows near the end are shown: more may be read. */
  readonly onEnd: () => void;
}

/** Rows beyond those in sight that are there already. */
const MORE_ROWS = 10;
/** New rows that are made in one frame. */
const ROWS_AT_ONCE = 8;
/** Height of a row in pixels until one was measured. */
const LIKELY_HEIGHT = 57;

/**
 * A table of which only the rows about in sight are in the page, however long it is. The page scrolls, not a part of it. All rows have the
 * height of two lines, and what is beyond is cut off: with heights of their own, a hundred thousand would be reckoned anew at each change.
 */
export function LongTable<Row>({ label, columns, rows, keyOf, onEnd }: Props<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, to, height } = useSight(body, { from: 0, to: 30, height: LIKELY_HEIGHT }, rowsInSight);
  const sight = { from: Math.min(from, rows.length), to: Math.min(to, rows.length) };
  const { from: first, to: end } = useRoom(sight, rows.length);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each length
  useEffect(() => {
    if (end >= rows.length) onEnd();
  }, [end, rows.length]);
  return (
    <TableBox label={label}>
      <table class="w-full table-fixed border-collapse text-sm" aria-rowcount={rows.length + 1}>
        <caption class="sr-only">{label}</caption>
        <Head columns={columns} />
        <tbody ref={body}>
          <Space height={first * height} />
          {rows.slice(first, end).map((row, place) => (
            <tr key={keyOf(row)} aria-rowindex={first + place + 2} class={`h-[calc(3.5rem+1px)] ${ROW}`}>
              <RowCells columns={columns} row={row} />
            </tr>
          ))}
          <Space height={(rows.length - end) * height} />
        </tbody>
      </table>
    </TableBox>
  );
}

/** Rows of a list: the first, and the one after the last. */
interface Range {
  readonly from: number;
  readonly to: number;
}

interface CellsProps<Row> extends Pick<Props<Row>, "columns"> {
  readonly row: Row;
}

/**
 * Of rows that stay, nothing is compared anew: neither as the page is scrolled, nor as others come in front. Kept as `useMemo` would, they
 * would hold on to rows long gone.
 */
class RowCells<Row> extends Component<CellsProps<Row>> {
  override shouldComponentUpdate({ columns, row }: CellsProps<Row>): boolean {
    return columns !== this.props.columns || row !== this.props.row;
  }

  override render() {
    const { columns, row } = this.props;
    // As few elements as can be: while the page is scrolled, some two hundred cells come and go in each second.
    return columns.map((column) => (
      <td key={column.title} class={`${lookOf(column)} overflow-hidden align-middle`}>
        {column.isLong ? (
          <div class="max-h-10 overflow-hidden break-words">{column.cell(row)}</div>
        ) : (
          column.cell(row)
        )}
      </td>
    ));
  }
}

/**
 * The rows to show: those in sight, then some beyond, a few more in each frame. Where the page jumps to another place of the list, or is
 * scrolled faster than anybody reads, all are new, and together would keep the page for too long.
 */
function useRoom(sight: Range, count: number): Range {
  const room = { from: Math.max(0, sight.from - MORE_ROWS), to: Math.min(count, sight.to + MORE_ROWS) };
  const [, setTurn] = useState(0);
  const drawn = useRef<Range>({ from: 0, to: 0 });
  const latest = useRef(room);
  latest.current = room;
  const shown = nextRange(drawn.current, sight, room);
  // biome-ignore lint/correctness/useExhaustiveDependencies: until all are there
  useEffect(() => {
    drawn.current = shown;
    if (shown.from === room.from && shown.to === room.to) return;
    const due = requestAnimationFrame(() => {
      const { from, to } = latest.current;
      // A frame that was scrolled has its rows already.
      if (from === room.from && to === room.to) setTurn((turn) => turn + 1);
    });
    return () => cancelAnimationFrame(due);
  }, [shown.from, shown.to, room.from, room.to]);
  return shown;
}

/** Of the rows that are there, those that stay, with as many more as are made at once: in sight first, then below, then above. */
export function nextRange(drawn: Range, sight: Range, room: Range): Range {
  let { from, to } = { from: Math.max(drawn.from, room.from), to: Math.min(drawn.to, room.to) };
  if (from >= to || from > sight.to || to < sight.from) [from, to] = [sight.from, sight.from];
  let left = ROWS_AT_ONCE;
  for (const goal of [sight, room]) {
    const below = Math.min(left, Math.max(0, goal.to - to));
    const above = Math.min(left - below, Math.max(0, from - goal.from));
    [from, to, left] = [from - above, to + below, left - below - above];
  }
  return { from, to };
}

/** Stands for the rows that are not in the page. One cell: over all columns it would make room for those that a narrow screen leaves out. */
function Space({ height }: { readonly height: number }) {
  return height <= 0 ? null : (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus
    <tr aria-hidden="true">
      <td class="p-0" style={{ height: `${height}px` }} />
    </tr>
  );
}

function rowsInSight(body: HTMLElement) {
  const { top } = body.getBoundingClientRect();
  const height = body.querySelector("tr[aria-rowindex]")?.getBoundingClientRect().height || LIKELY_HEIGHT;
  const from = Math.max(0, Math.floor(-top / height));
  return { from, to: Math.max(0, Math.ceil((innerHeight - top) / height)), height };
}
