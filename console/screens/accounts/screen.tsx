import { ask } from "../../api/ask.ts";
import { type Listed, type Listing, type PageQuery, useListing } from "../../api/pages.ts";
import type { Schemas } from "../../api/published.d.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Field } from "../../parts/field.tsx";
import { MainLink, RowLink } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { PagedTable } from "../../parts/paged-table.tsx";
import { Status } from "../../parts/status.tsx";
import type { Column } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf, query, setQuery } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { isLow } from "./low.ts";

type Account = Schemas["Account"];

async function readAccounts(query: PageQuery, signal?: AbortSignal): Promise<Listed<Account>> {
  const { accounts: items, next } = await ask("GET /admin/v1/accounts", { query }, { signal });
  return { items, next };
}

/** Accounts: who pays, what they have, and what is held. */
export function Screen() {
  const listing = useListing("accounts", readAccounts);
  const { data, problem, again } = listing;
  return (
    <Page
      title="Accounts"
      actions={may("money") && <MainLink href={hrefOf("accounts", "new")}>Create account</MainLink>}
    >
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="accounts" />}
      {data?.items.length === 0 && (
        <Empty title="No accounts yet">
          An account pays for what its keys make. A prepaid one spends what it was credited; an unlimited one
          is counted, and refused only beyond 8e9 USD owed. The same from a terminal:{" "}
          <code class="font-mono break-all text-ink">svc accounts create studio --credit 10</code>
        </Empty>
      )}
      {data !== undefined && data.items.length > 0 && (
        <Rows listing={listing} data={data} find={query.value.find ?? ""} />
      )}
    </Page>
  );
}

interface RowsProps {
  readonly listing: Listing<Account>;
  readonly data: Listed<Account>;
  readonly find: string;
}

function Rows({ listing, data: { items }, find }: RowsProps) {
  const wanted = find.toLowerCase();
  const rows = items.filter(({ id, name }) => [name, id].some((text) => text.toLowerCase().includes(wanted)));
  return (
    <>
      <search class="max-w-sm">
        <Field
          label="Name or id"
          hidesLabel
          placeholder="Name or id"
          type="search"
          isFilter
          value={find}
          onText={(text) => setQuery({ find: text })}
        />
      </search>
      <PagedTable
        what="accounts"
        label="Accounts"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        listing={listing}
        rows={rows}
        none={
          <Empty title="No account is like that">
            <Button onClick={() => setQuery({ find: "" })}>Show all accounts</Button>
          </Empty>
        }
      />
    </>
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
