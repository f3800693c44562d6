import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { More } from "../api/more.ts";
import { type Listing, useEnough } from "../api/pages.ts";
import { Button } from "./button.tsx";
import { Reading } from "./page.tsx";
import { type Column, Table } from "./table.tsx";
import { Trouble } from "./trouble.tsx";

/** Rows that are added at a time: a browser takes a minute for those of twenty thousand records. */
const STEP = 100;

interface Props<Row> {
  readonly what: string;
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly listing: Pick<Listing<unknown>, "data" | "more">;
  /** Those of the list, as far as it was read, that are to be shown. */
  readonly rows: readonly Row[];
  /** Instead of a table without rows. */
  readonly none: ComponentChildren;
}

/** A list that is read by pages, of which more is shown as it is wanted. */
export function PagedTable<Row>({ what, label, columns, keyOf, listing, rows, none }: Props<Row>) {
  const [count, setCount] = useState(STEP);
  const { data, more } = listing;
  const isWhole = data?.next === null;
  useEnough(listing, rows.length >= count);
  if (rows.length === 0 && isWhole) return <>{none}</>;
  return (
    <>
      {rows.length > 0 && <Table label={label} columns={columns} rows={rows.slice(0, count)} keyOf={keyOf} />}
      <End
        what={what}
        more={more}
        hidden={Math.max(0, rows.length - count)}
        isWhole={isWhole}
        onMore={() => setCount(count + STEP)}
      />
    </>
  );
}

interface EndProps {
  readonly what: string;
  readonly more: More;
  /** How many rows there are beyond those that are shown, as far as the list was read. */
  readonly hidden: number;
  /** Whether all of the list was read. */
  readonly isWhole: boolean;
  readonly onMore: () => void;
}

function End({ what, more, hidden, isWhole, onMore }: EndProps) {
  if (more.problem !== undefined) return <Trouble problem={more.problem} again={more.readAnyway} />;
  if (more.isReading) return <Reading what={`more ${what}`} />;
  if (hidden === 0 && isWhole) return null;
  return (
    <div class="text-center">
      <Button onClick={onMore}>{isWhole ? `Show more: ${hidden} are left` : "Show more"}</Button>
    </div>
  );
}
