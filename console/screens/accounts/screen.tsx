import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { type Listed, type Listing, type PageQuery, useEnough, useListing } from "../../api/pages.ts";
import type { Schemas } from "../../api/published.d.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { EndOfList } from "../../parts/end-of-list.tsx";
import { Field } from "../../parts/field.tsx";
import { MainLink, RowLink } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf, query, setQuery } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { isLow } from "./low.ts";

type Account = Schemas["Account"];

/** Rows that are added at a time: a browser takes a minute for those of twenty thousand accounts. */
const STEP = 100;

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

function Rows({ listing, data: { items, next }, find }: RowsProps) {
  const [count, setCount] = useState(STEP);
  const wanted = find.toLowerCase();
  const rows = items.filter(({ id, name }) => [name, id].some((text) => text.toLowerCase().includes(wanted)));
  useEnough(listing, rows.length >= count);
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
      {rows.length === 0 && next === null && (
        <Empty title="No account is like that">
          <Button onClick={() => setQuery({ find: "" })}>Show all accounts</Button>
        </Empty>
      )}
      {rows.length > 0 && (
        <Table label="Accounts" columns={COLUMNS} rows={rows.slice(0, count)} keyOf={({ id }) => id} />
      )}
      <EndOfList
        what="accounts"
        more={listing.more}
        hidden={Math.max(0, rows.length - count)}
        isWhole={next === null}
        onMore={() => setCount(count + STEP)}
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
