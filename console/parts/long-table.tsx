import { useEffect, useRef } from "preact/hooks";
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
  const { from, to, height } = useSight(body, { from: 0, to: 40, height: LIKELY_HEIGHT }, rowsInSight);
  const [first, end] = [Math.min(from, rows.length), Math.min(to, rows.length)];
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
          <Space height={first * height} columns={columns.length} />
          {rows.slice(first, end).map((row, place) => (
            <tr key={keyOf(row)} aria-rowindex={first + place + 2} class={`h-[calc(3.5rem+1px)] ${ROW}`}>
              <Cells columns={columns} row={row} look="max-h-10 overflow-hidden" />
            </tr>
          ))}
          <Space height={(rows.length - end) * height} columns={columns.length} />
        </tbody>
      </table>
    </TableBox>
  );
}

/** Stands for the rows that are not in the page. */
function Space({ height, columns }: { readonly height: number; readonly columns: number }) {
  return height <= 0 ? null : (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus
    <tr aria-hidden="true">
      <td colSpan={columns} class="p-0" style={{ height: `${height}px` }} />
    </tr>
  );
}

function rowsInSight(body: HTMLElement) {
  const { top } = body.getBoundingClientRect();
  const height = body.querySelector("tr[aria-rowindex]")?.getBoundingClientRect().height || LIKELY_HEIGHT;
  const from = Math.max(0, Math.floor(-top / height) - MORE_ROWS);
  return { from, to: Math.max(0, Math.ceil((innerHeight - top) / height)) + MORE_ROWS, height };
}
