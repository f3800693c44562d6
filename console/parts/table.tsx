import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** A column: its heading, and what it shows of a row. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand on the right. */
  readonly isNumber?: boolean;
  /** Left out on screens narrower than this. */
  readonly from?: "xs" | "sm" | "md" | "lg" | "xl";
  /** A class that says how wide it is in a long table; what is left is shared by the others. */
  readonly width?: string;
  /** In a long table its words may need more than the two lines that a row has: what is beyond is cut off. */
  readonly isLong?: boolean;
}

interface Props<Row> {
  /** What the table is about, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

const FROM = {
  // All but the narrowest telephones.
  xs: "hidden min-[375px]:table-cell",
  sm: "hidden sm:table-cell",
  md: "hidden md:table-cell",
  lg: "hidden lg:table-cell",
  xl: "hidden xl:table-cell",
} as const;

/** A table as wide as its place. What does not fit can be reached by scrolling within it, never by moving the page. */
export function Table<Row>({ label, columns, rows, keyOf }: Props<Row>) {
  return (
    <TableBox label={label}>
      <table class="w-full border-collapse text-sm">
        <caption class="sr-only">{label}</caption>
        <Head columns={columns} />
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={ROW}>
              <Cells columns={columns} row={row} />
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  );
}

/** How a row looks. */
export const ROW = "border-b border-line last:border-0 focus-within:bg-sunk hover:bg-sunk";

/** How the cells of a column look. */
export function lookOf<Row>({ isNumber, from }: Column<Row>): string {
  return `px-2 py-2 sm:px-3 ${isNumber ? "text-right tabular-nums" : "text-left"} ${from ? FROM[from] : ""}`;
}

/** The headings of the columns. */
export function Head<Row>({ columns }: Pick<Props<Row>, "columns">) {
  return (
    <thead class="border-b border-line text-soft">
      <tr>
        {columns.map((column) => (
          <th
            key={column.title}
            scope="col"
            class={`${lookOf(column)} font-medium whitespace-nowrap ${column.width ?? ""}`}
          >
            {column.title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** What the columns show of a row. */
function Cells<Row>({ columns, row }: Pick<Props<Row>, "columns"> & { readonly row: Row }) {
  return columns.map((column) => (
    <td key={column.title} class={`${lookOf(column)} align-top`}>
      {column.cell(row)}
    </td>
  ));
}

/** The place of a table, within which it is scrolled sideways. */
export function TableBox({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  const box = useRef<HTMLElement>(null);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const watch = new ResizeObserver(() => setWide(place.scrollWidth > place.clientWidth));
    watch.observe(place);
    if (place.firstElementChild !== null) watch.observe(place.firstElementChild);
    return () => watch.disconnect();
  }, []);
  return (
    <section
      ref={box}
      // A table without links could not be scrolled by keyboard.
      tabIndex={isWide ? 0 : undefined}
      aria-label={isWide ? label : undefined}
      class="relative overflow-x-auto rounded-xl border border-line bg-card"
    >
      {children}
    </section>
  );
}
