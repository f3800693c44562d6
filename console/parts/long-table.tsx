import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useSight } from "./sight.ts";
import { Cells, type Column, Head, ROW, TableBox } from "./table.tsx";

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
            <LongRow key={keyOf(row)} columns={columns} row={row} index={first + place + 2} />
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

interface LongRowProps<Row> extends Pick<Props<Row>, "columns"> {
  readonly row: Row;
  /** Among all rows, for screen readers. */
  readonly index: number;
}

/** Of rows that stay while the page is scrolled, nothing is compared anew. Kept as `useMemo` would, they would hold on to rows long gone. */
class LongRow<Row> extends Component<LongRowProps<Row>> {
  override shouldComponentUpdate({ columns, row, index }: LongRowProps<Row>): boolean {
    return columns !== this.props.columns || row !== this.props.row || index !== this.props.index;
  }

  override render() {
    const { columns, row, index } = this.props;
    return (
      <tr aria-rowindex={index} class={`h-[calc(3.5rem+1px)] ${ROW}`}>
        <Cells columns={columns} row={row} look="max-h-10 overflow-hidden" />
      </tr>
    );
  }
}

/**
 * The rows to show: those in sight at once, and those beyond in a task of their own after that was drawn. Where the page jumps to another
 * place of the list, all are new, and together would keep the page for too long.
 */
function useRoom(sight: Range, count: number): Range {
  const [drawn, setDrawn] = useState(sight);
  const room = { from: Math.max(0, sight.from - MORE_ROWS), to: Math.min(count, sight.to + MORE_ROWS) };
  const kept = { from: Math.max(drawn.from, room.from), to: Math.min(drawn.to, room.to) };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the room is made of its two ends
  useEffect(() => {
    setDrawn((last) => (last.from === room.from && last.to === room.to ? last : room));
  }, [room.from, room.to]);
  const isBeside = kept.from < kept.to && kept.from <= sight.to && kept.to >= sight.from;
  return isBeside ? { from: Math.min(sight.from, kept.from), to: Math.max(sight.to, kept.to) } : sight;
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
