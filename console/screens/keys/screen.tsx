import { type Listed, type Listing, useListing } from "../../api/pages.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useReading } from "../../api/use.ts";
import { AccountChoice, accountsToChoose } from "../../parts/account-choice.tsx";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Link, MainLink, RowLink } from "../../parts/link.tsx";
import { Money, moneyText } from "../../parts/money.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { PagedTable } from "../../parts/paged-table.tsx";
import { Status } from "../../parts/status.tsx";
import type { Column } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf, query, setQuery } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { type Filters, fitting, type ListedKey, limitsText, readKeys, SPENT_DAYS } from "./list.ts";

/** API keys of all accounts: whose they are, what they may do, and what they spent. */
export function Screen() {
  const { account = "", state = "", find = "" } = query.value;
  const filters: Filters = { account, state, find };
  const keys = useListing(`keys ${account}`, (page, signal) => readKeys(account, page, signal));
  const { data, problem, again } = keys;
  const accounts = useReading("accounts to choose", accountsToChoose);
  return (
    <Page title="Keys" actions={may("keys") && <MainLink href={hrefOf("keys", "new")}>Create key</MainLink>}>
      <FilterRow filters={filters} accounts={accounts.data ?? []} />
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="keys" />}
      {data !== undefined && <Rows keys={keys} data={data} filters={filters} />}
    </Page>
  );
}

interface RowsProps {
  readonly keys: Listing<ListedKey>;
  readonly data: Listed<ListedKey>;
  readonly filters: Filters;
}

function Rows({ keys, data: { items }, filters }: RowsProps) {
  return (
    <PagedTable
      what="keys"
      label="API keys, newest first"
      columns={COLUMNS}
      keyOf={({ key }) => key.id}
      listing={keys}
      rows={fitting(items, filters)}
      none={<NoKeys isFirst={items.length === 0 && filters.account === ""} />}
    />
  );
}

function FilterRow({
  filters,
  accounts,
}: {
  readonly filters: Filters;
  readonly accounts: readonly Schemas["Account"][];
}) {
  return (
    <search class="grid grid-cols-2 gap-2 sm:grid-cols-3 lg:max-w-3xl">
      <Field
        label="Name or first characters"
        hidesLabel
        placeholder="Name or first characters"
        type="search"
        isFilter
        value={filters.find}
        onText={(find) => setQuery({ find })}
      />
      <Choice
        label="State"
        hidesLabel
        value={filters.state}
        choices={[
          ["", "Not revoked"],
          ["active", "Active"],
          ["expired", "Expired"],
          ["revoked", "Revoked"],
          ["all", "Every state"],
        ]}
        onChoice={(state) => setQuery({ state })}
      />
      <AccountChoice
        hidesLabel
        accounts={accounts}
        value={filters.account}
        first={[["", "Every account"]]}
        onChoice={(account) => setQuery({ account })}
      />
    </search>
  );
}

const COLUMNS: readonly Column<ListedKey>[] = [
  {
    title: "Name",
    cell: ({ key }) => (
      <span class="flex min-w-0 flex-col">
        <RowLink href={hrefOf("keys", key.id)}>
          <bdi>{key.name}</bdi>
        </RowLink>
        <code class="font-mono text-xs whitespace-nowrap text-soft sm:text-[0.8125rem]">{key.display}</code>
      </span>
    ),
  },
  {
    title: "Account",
    from: "sm",
    cell: ({ account }) => (
      <Link href={hrefOf("accounts", account.id)}>
        <bdi class="block min-w-24 wrap-anywhere">{account.name}</bdi>
      </Link>
    ),
  },
  { title: "State", cell: ({ key }) => <Status word={key.status} /> },
  {
    title: "Limits",
    from: "lg",
    cell: ({ key }) => (
      <span class="break-words">{limitsText(key) ?? <span class="text-soft">none</span>}</span>
    ),
  },
  {
    title: "Quota",
    from: "md",
    isNumber: true,
    cell: ({ key: { quota } }) =>
      quota === null ? (
        <span class="text-soft">any amount</span>
      ) : (
        <span class="tabular-nums">
          {moneyText(quota.limit)}
          {quota.reset === "total" ? "" : ` ${quota.reset}`}
        </span>
      ),
  },
  {
    title: `Spent, ${SPENT_DAYS} days`,
    isNumber: true,
    cell: ({ key: { charged } }) => <Money amount={charged} />,
  },
  { title: "Made", from: "md", cell: ({ key }) => <Time at={key.created_at} /> },
  { title: "Expires", from: "lg", cell: ({ key }) => <Time at={key.expires_at} /> },
];

function NoKeys({ isFirst }: { readonly isFirst: boolean }) {
  if (!isFirst)
    return (
      <Empty title="No key is like that">
        <Button onClick={() => setQuery({ account: "", state: "", find: "" })}>Show all keys</Button>
      </Empty>
    );
  return (
    <Empty title="No keys yet">
      A key lets a program make images and videos for its account. Give each program a key of its own, with
      limits: then one that leaks is revoked without the others. The same from a terminal:{" "}
      <code class="font-mono break-all text-ink">svc keys create --name web</code>
    </Empty>
  );
}
