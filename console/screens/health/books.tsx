import { ask } from "../../api/ask.ts";
import type { Schemas } from "../../api/published.d.ts";
import { counted, countText } from "../../parts/count.ts";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { hrefOf } from "../../shell/router.ts";
import { OnDemand } from "./on-demand.tsx";

type Audit = Schemas["Audit"];
type Difference = Audit["differences"][number];

/** Adds the books up anew. */
export function Books() {
  return (
    <OnDemand
      title="The books"
      about="Adds every balance, hold, quota and day of usage up anew from the ledger and the tasks, beside the running service. A large database takes a while."
      action="Audit the books"
      look={() => ask("GET /admin/v1/audit", { query: {} })}
      headline={({ adds_up, checks, differences }) =>
        adds_up ? (
          <Status word="The books add up" tone="good" />
        ) : (
          <Status
            word={`${counted(differences.length, "check")} of ${countText(checks)} found a difference`}
            tone="bad"
            isSentence
          />
        )
      }
    >
      {(audit) => <Report audit={audit} />}
    </OnDemand>
  );
}

function Report({ audit }: { readonly audit: Audit }) {
  const { checks, rows, sums, differences } = audit;
  return (
    <>
      <p class="text-sm text-soft">
        {counted(checks, "check")} of {counted(rows.accounts, "account")},{" "}
        {counted(rows.ledger_entries, "ledger row")}, {counted(rows.tasks, "task")} (
        {countText(rows.live_tasks)} under way), {counted(rows.quotas, "quota period")} and{" "}
        {counted(rows.usage_days, "day")} of usage.
      </p>
      <Facts
        facts={[
          ["Credited", <Money key="credited" amount={sums.credited} />],
          ["Charged", <Money key="captured" amount={sums.captured} />],
          ["Given back", <Money key="refunded" amount={sums.refunded} />],
          ["Balances", <Money key="balance" amount={sums.balance} />],
          ["Held", <Money key="held" amount={sums.held} />],
        ]}
      />
      {differences.length > 0 && (
        <>
          <Table
            label="Differences, the first one of each check"
            columns={COLUMNS}
            rows={differences}
            keyOf={({ check }) => check}
          />
          <p class="text-sm text-soft">
            Nothing was changed. Keep a backup as it is now before anything is put right;{" "}
            <code class="font-mono text-ink">svc audit</code> tells the same on the data folder.
          </p>
        </>
      )}
    </>
  );
}

function Of({ difference }: { readonly difference: Difference }) {
  const { account_id, key_id, task_id, model, day, ledger_entry } = difference;
  const parts = [
    task_id !== null && <Link href={hrefOf("tasks", task_id)}>{task_id}</Link>,
    key_id !== null && <Link href={hrefOf("keys", key_id)}>{key_id}</Link>,
    account_id !== null && <Link href={hrefOf("accounts", account_id)}>{account_id}</Link>,
    model !== null && <bdi>{model}</bdi>,
    day,
    ledger_entry !== null && `ledger row ${ledger_entry}`,
  ].filter((part) => part !== false && part !== null);
  return (
    <span class="flex min-w-32 flex-col wrap-anywhere">
      {parts.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one difference never change places
        <span key={place}>{part}</span>
      ))}
    </span>
  );
}

const COLUMNS: readonly Column<Difference>[] = [
  {
    title: "Check",
    cell: ({ check, rule }) => (
      <span class="flex min-w-40 flex-col">
        <span>{check.replaceAll("_", " ")}</span>
        <span class="text-soft">{rule}</span>
      </span>
    ),
  },
  { title: "Of", cell: (difference) => <Of difference={difference} /> },
  { title: "Stored", isNumber: true, cell: ({ stored }) => String(stored) },
  { title: "Must be", isNumber: true, cell: ({ expected }) => String(expected) },
];
