import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** A column: its heading, and what it shows of a row. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand on the right. */
  readonly isNumber?: boolean;
  /** Left out on screens narrower than this. */
  readonly from?: "sm" | "md" | "lg";
}

interface Props<Row> {
  /** What the table is about, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

const FROM = { sm: "hidden sm:table-cell", md: "hidden md:table-cell", lg: "hidden lg:table-cell" } as const;

/** A table as wide as its place. What does not fit can be reached by scrolling within it, never by moving the page. */
export function Table<Row>({ label, columns, rows, keyOf }: Props<Row>) {
  const look = ({ isNumber, from }: Column<Row>) =>
    `px-3 py-2 ${isNumber ? "text-right" : "text-left"} ${from ? FROM[from] : ""}`;
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
      <table class="w-full border-collapse text-sm">
        <caption class="sr-only">{label}</caption>
        <thead class="border-b border-line text-soft">
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={`${look(column)} font-medium whitespace-nowrap`}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              class="border-b border-line last:border-0 focus-within:bg-sunk hover:bg-sunk"
            >
              {columns.map((column) => (
                <td key={column.title} class={`${look(column)} align-top`}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
