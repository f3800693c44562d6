import { useState } from "preact/hooks";
import { useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Link } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { Reading } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { say } from "../../shell/toasts.tsx";
import { type Account, type LedgerEntry, readLedger } from "./read.ts";

interface Props {
  readonly account: Account;
  /** Somebody wants to give back a charge. */
  readonly onRefund: (charge: LedgerEntry) => void;
}

/** Every movement of an account's money, newest first, a page at a time. */
export function Ledger({ account, onRefund }: Props) {
  const reading = useReading(`ledger ${account.id}`, (signal) => readLedger(account.id, undefined, signal));
  const { data, problem, again } = reading;
  const [isReadingMore, setReadingMore] = useState(false);
  const more = async (before: string) => {
    setReadingMore(true);
    try {
      const page = await readLedger(account.id, before);
      reading.change((known) => ({ ...page, entries: [...known.entries, ...page.entries] }));
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "failed");
    } finally {
      setReadingMore(false);
    }
  };
  if (data === undefined)
    return problem === undefined ? (
      <Reading what="the ledger" />
    ) : (
      <Trouble problem={problem} again={again} />
    );
  if (data.entries.length === 0)
    return (
      <Empty title="Nothing has moved yet">
        Credits, holds, charges and refunds are written here as they happen.
      </Empty>
    );
  const { next } = data;
  return (
    <>
      <Table
        label="Ledger, newest first"
        columns={may("money") ? [...COLUMNS, refundColumn(onRefund)] : COLUMNS}
        rows={data.entries.map((entry, number) => ({ entry, number }))}
        keyOf={({ number }) => String(data.entries.length - number)}
      />
      {next !== null && (
        <div class="text-center">
          <Button isBusy={isReadingMore} onClick={() => void more(next)}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

type Row = { readonly entry: LedgerEntry; readonly number: number };

const COLUMNS: readonly Column<Row>[] = [
  { title: "When", cell: ({ entry: { at } }) => <Time at={at} /> },
  { title: "What", cell: ({ entry: { kind } }) => kind },
  {
    title: "Amount",
    isNumber: true,
    cell: ({ entry: { balance_delta } }) => <Money amount={moved(balance_delta)} />,
  },
  {
    title: "Held",
    from: "md",
    isNumber: true,
    cell: ({ entry: { held_delta } }) => <Money amount={moved(held_delta)} />,
  },
  {
    title: "Balance",
    from: "sm",
    isNumber: true,
    cell: ({ entry: { balance } }) => <Money amount={balance} />,
  },
  {
    title: "Task",
    from: "md",
    cell: ({ entry: { task_id } }) =>
      task_id === null ? "" : <Link href={hrefOf("tasks", task_id)}>…{task_id.slice(-8)}</Link>,
  },
  {
    title: "Reason",
    from: "sm",
    cell: ({ entry: { reason, entries } }) => (
      <bdi class="block min-w-32 wrap-anywhere">
        {entries === null ? reason : `${reason}: ${entries} entries`}
      </bdi>
    ),
  },
  {
    title: "Who",
    from: "lg",
    cell: ({ entry: { actor } }) => <span class="font-mono text-xs break-all text-soft">{actor}</span>,
  },
];

/** An amount that moved; nothing where none did. */
function moved(delta: string): string | undefined {
  return Number(delta) === 0 ? undefined : delta;
}

function refundColumn(onRefund: (entry: LedgerEntry) => void): Column<Row> {
  return {
    title: "Undo",
    cell: ({ entry }) =>
      entry.kind === "capture" && entry.task_id !== null && Number(entry.balance_delta) < 0 ? (
        <button
          type="button"
          class="min-h-6 text-accent underline-offset-2 hover:underline"
          aria-label={`Refund …${entry.task_id.slice(-8)}`}
          onClick={() => onRefund(entry)}
        >
          Refund
        </button>
      ) : (
        ""
      ),
  };
}
