import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useReading } from "../../api/use.ts";
import { Empty } from "../../parts/empty.tsx";
import { MainLink, RowLink } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { isLow } from "./low.ts";

type Account = Schemas["Account"];

/** Accounts: who pays, what they have, and what is held. */
export function Screen() {
  const { data, problem, again } = useReading("accounts", (signal) =>
    ask("GET /admin/v1/accounts", {}, { signal }),
  );
  return (
    <Page
      title="Accounts"
      actions={may("money") && <MainLink href={hrefOf("accounts", "new")}>Create account</MainLink>}
    >
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="accounts" />}
      {data?.accounts.length === 0 && (
        <Empty title="No accounts yet">
          An account pays for what its keys make. A prepaid one spends what it was credited; an unlimited one
          is counted and never refused. The same from a terminal:{" "}
          <code class="font-mono break-all text-ink">svc accounts create studio --credit 10</code>
        </Empty>
      )}
      {data !== undefined && data.accounts.length > 0 && (
        <Table label="Accounts" columns={COLUMNS} rows={data.accounts} keyOf={({ id }) => id} />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Account>[] = [
  {
    title: "Name",
    cell: ({ id, name }) => (
      <RowLink href={hrefOf("accounts", id)}>
        <bdi>{name}</bdi>
      </RowLink>
    ),
  },
  { title: "State", cell: ({ status }) => <Status word={status} /> },
  { title: "Mode", from: "sm", cell: ({ mode }) => mode },
  {
    title: "Available",
    isNumber: true,
    cell: (account) =>
      account.available === null ? (
        <span class="text-soft">any amount</span>
      ) : (
        <span class="flex flex-col items-end">
          <Money amount={account.available} />
          {isLow(account) && <Status word="low" tone="warn" />}
        </span>
      ),
  },
  { title: "Balance", from: "sm", isNumber: true, cell: ({ balance }) => <Money amount={balance} /> },
  { title: "Held", from: "md", isNumber: true, cell: ({ held }) => <Money amount={held} /> },
  { title: "Made", from: "lg", cell: ({ created_at }) => <Time at={created_at} /> },
];
