import { allAccounts } from "../../api/lists.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useReading } from "../../api/use.ts";
import { Link, RowLink } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { Reading, Section } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import { isLow } from "../accounts/low.ts";

type Account = Schemas["Account"];
const SHOWN = 10;

/** What accounts have and what is held, those with the least to spend first. */
export function Balances() {
  const { data, problem, again } = useReading("balances", allAccounts);
  const rows = [...(data ?? [])].sort((one, other) => left(one) - left(other));
  return (
    <Section title="Balances and holds">
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="balances" />}
      {rows.length > 0 && (
        <Table
          label="Balances and holds, those with the least to spend first"
          columns={COLUMNS}
          rows={rows.slice(0, SHOWN)}
          keyOf={({ id }) => id}
        />
      )}
      {rows.length > SHOWN && (
        <p>
          <Link href={hrefOf("accounts")}>All {rows.length} accounts</Link>
        </p>
      )}
      <p class="text-sm text-soft">
        A task holds the most that it can cost until it ends. The{" "}
        <Link href={hrefOf("tasks", "", { status: "processing" })}>tasks under way</Link> hold what is held;
        credits, refunds and the ledger are on each account's own screen.
      </p>
    </Section>
  );
}

/** What an account can spend; an unlimited one comes last. */
function left({ available }: Account): number {
  return available === null ? Number.POSITIVE_INFINITY : Number(available);
}

const COLUMNS: readonly Column<Account>[] = [
  {
    title: "Account",
    cell: ({ id, name }) => (
      <RowLink href={hrefOf("accounts", id)}>
        <bdi>{name}</bdi>
      </RowLink>
    ),
  },
  {
    title: "Available",
    isNumber: true,
    cell: (account) =>
      account.available === null ? (
        <span class="text-soft">any amount</span>
      ) : (
        <span class="inline-flex flex-wrap justify-end gap-x-2">
          {isLow(account) && <Status word="low" tone="warn" />}
          <Money amount={account.available} />
        </span>
      ),
  },
  { title: "Held", isNumber: true, cell: ({ held }) => <Money amount={held} /> },
  { title: "Balance", from: "sm", isNumber: true, cell: ({ balance }) => <Money amount={balance} /> },
  {
    title: "Warned below",
    from: "md",
    isNumber: true,
    cell: ({ low_balance }) => <Money amount={low_balance} />,
  },
];
