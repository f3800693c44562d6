import {
  measureElement,
  observeWindowOffset,
  observeWindowRect,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { Cells, type Column, Head, ROW, TableBox } from "./table.tsx";

interface Props<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** About how high a row is, in pixels; it is measured when it is shown. */
  readonly rowHeight: number;
  /** The rows near the end are shown: more may be read. */
  readonly onEnd: () => void;
}

/** Rows beyond those in sight that are there already. */
const MORE_ROWS = 10;

/** A table of which only the rows about in sight are in the page, however long it is. The page scrolls, not a part of it. */
export function LongTable<Row>({ label, columns, rows, keyOf, rowHeight, onEnd }: Props<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { virtualizer, top } = useVirtualizer(body, rowHeight);
  virtualizer.setOptions({
    ...virtualizer.options,
    count: rows.length,
    scrollMargin: top,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
  });
  useLayoutEffect(() => virtualizer._willUpdate());
  const shown = virtualizer.getVirtualItems();
  const [first, last] = [shown[0], shown.at(-1)];
  const lastIndex = last?.index ?? -1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each length
  useEffect(() => {
    if (rows.length > 0 && lastIndex >= rows.length - 1) onEnd();
  }, [lastIndex, rows.length]);
  const above = first === undefined ? 0 : first.start - top;
  const below = last === undefined ? 0 : virtualizer.getTotalSize() - (last.end - top);
  return (
    <TableBox label={label}>
      <table class="w-full table-fixed border-collapse text-sm" aria-rowcount={rows.length + 1}>
        <caption class="sr-only">{label}</caption>
        <Head columns={columns} />
        <tbody ref={body}>
          <Space height={above} columns={columns.length} />
          {shown.map(({ key, index }) => {
            const row = rows[index];
            return (
              row !== undefined && (
                <tr
                  key={key}
                  ref={(element) => virtualizer.measureElement(element)}
                  data-index={index}
                  aria-rowindex={index + 2}
                  class={ROW}
                >
                  <Cells columns={columns} row={row} />
                </tr>
              )
            );
          })}
          <Space height={below} columns={columns.length} />
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

/** Looks which rows are in sight of the window. `top` is where the first one begins in the page. */
function useVirtualizer(body: { readonly current: HTMLElement | null }, rowHeight: number) {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const [top, setTop] = useState(0);
  const [virtualizer] = useState(
    () =>
      new Virtualizer<Window, HTMLElement>({
        ...{ count: 0, overscan: MORE_ROWS, initialOffset: () => scrollY },
        getScrollElement: () => window,
        estimateSize: () => rowHeight,
        ...{ scrollToFn: windowScroll, measureElement },
        ...{ observeElementRect: observeWindowRect, observeElementOffset: observeWindowOffset },
        onChange: () => redraw(undefined),
      }),
  );
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => {
    const look = () => setTop(Math.round((body.current?.getBoundingClientRect().top ?? 0) + scrollY));
    const sizes = new ResizeObserver(look);
    sizes.observe(document.body);
    look();
    return () => sizes.disconnect();
  }, [body]);
  return { virtualizer, top };
}
