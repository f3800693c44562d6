import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import type { Operations } from "../../api/published.d.ts";
import { textsOf } from "../../api/terms.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link, MainLink, RowLink } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { TermsForm } from "../../parts/terms-form.tsx";
import { Time } from "../../parts/time.tsx";
import { useDraft } from "../../shell/draft.ts";
import { hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { say } from "../../shell/toasts.tsx";
import { Credit } from "./credit.tsx";
import { Ledger } from "./ledger.tsx";
import type { Account, AccountInFull, LedgerEntry } from "./read.ts";
import { Refund } from "./refund.tsx";
import { Standing } from "./standing.tsx";

interface Props {
  readonly data: AccountInFull;
  readonly onChange: (account: Account) => void;
}

/** An account: what it has, what it pays, who spends it, and every movement of its money. */
export function OneAccount({ data, onChange }: Props) {
  const { account, keys } = data;
  const [asked, setAsked] = useState<"credit" | "standing">();
  const [refunded, setRefunded] = useState<LedgerEntry>();
  const close = () => setAsked(undefined);
  return (
    <Page
      title={account.name}
      actions={
        <>
          {may("money") && (
            <Button look="main" onClick={() => setAsked("credit")}>
              Credit
            </Button>
          )}
          {may("keys") && (
            <Button
              look={account.status === "active" ? "danger" : "plain"}
              onClick={() => setAsked("standing")}
            >
              {account.status === "active" ? "Suspend" : "Activate"}
            </Button>
          )}
        </>
      }
    >
      <p>
        <Link href={hrefOf("accounts")}>← All accounts</Link>
      </p>
      <AccountFacts account={account} />
      <Section title="Keys">
        <KeysOf account={account} keys={keys} />
      </Section>
      {may("money") && (
        <Section title="Terms">
          <Terms data={data} onChange={onChange} />
        </Section>
      )}
      <Section title="Ledger">
        {/* What moves money changes what is held and the balance, so the ledger is read anew with them. */}
        <Ledger key={`${account.balance} ${account.held}`} account={account} onRefund={setRefunded} />
      </Section>
      {asked === "credit" && <Credit account={account} onClose={close} onChange={onChange} />}
      {asked === "standing" && <Standing account={account} onClose={close} onChange={onChange} />}
      {refunded !== undefined && (
        <Refund
          taskId={refunded.task_id ?? ""}
          charged={refunded.balance_delta.replace("-", "")}
          onClose={() => setRefunded(undefined)}
          onDone={onChange}
        />
      )}
    </Page>
  );
}

function AccountFacts({ account }: { readonly account: Account }) {
  return (
    <div class="rounded-xl border border-line bg-card p-4">
      <Facts
        facts={[
          ["State", <Status key="state" word={account.status} />],
          ["Mode", account.mode],
          [
            "Available",
            account.available === null ? "any amount" : <Money key="available" amount={account.available} />,
          ],
          ["Balance", <Money key="balance" amount={account.balance} />],
          ["Held", <Money key="held" amount={account.held} />],
          ["Made", <Time key="made" at={account.created_at} />],
          [
            "More",
            <span key="more" class="flex flex-wrap gap-x-6 gap-y-2">
              <Link href={hrefOf("tasks", "", { account: account.id })}>Its tasks</Link>
              <Link href={hrefOf("money", "", { account: account.id })}>Its spend</Link>
            </span>,
          ],
          [
            "Id",
            <code key="id" class="font-mono text-xs break-all sm:text-sm">
              {account.id}
            </code>,
          ],
        ]}
      />
    </div>
  );
}

function KeysOf({ account, keys }: { readonly account: Account; readonly keys: AccountInFull["keys"] }) {
  const usable = keys.filter(({ status }) => status !== "revoked");
  const create = may("keys") && (
    <MainLink href={hrefOf("keys", "new", { account: account.id })}>Create a key for it</MainLink>
  );
  if (usable.length === 0)
    return (
      <Empty title="It has no keys">
        <p class="mb-3">Without a key nobody can spend what it has.</p>
        {create}
      </Empty>
    );
  return (
    <>
      <Table label="Its keys" columns={KEYS} rows={usable} keyOf={({ id }) => id} />
      <div>{create}</div>
    </>
  );
}

const KEYS: readonly Column<AccountInFull["keys"][number]>[] = [
  {
    title: "Name",
    cell: ({ id, name }) => (
      <RowLink href={hrefOf("keys", id)}>
        <bdi>{name}</bdi>
      </RowLink>
    ),
  },
  { title: "Key", cell: ({ display }) => <code class="font-mono text-[0.8125rem]">{display}</code> },
  { title: "State", cell: ({ status }) => <Status word={status} /> },
  { title: "Made", from: "sm", cell: ({ created_at }) => <Time at={created_at} /> },
];

function Terms({ data: { account, terms }, onChange }: Props) {
  const draft = useDraft<Record<string, string>>(`accounts/${account.id}`, {});
  const path = { id: account.id };
  return (
    <TermsForm
      terms={terms}
      before={textsOf(terms, account)}
      draft={draft}
      action="Save"
      onLook={async () => {
        const now = await ask("GET /admin/v1/accounts/{id}", { path });
        onChange(now);
        return textsOf(terms, now);
      }}
      onSend={async (body) => {
        // The terms are as the service's own description has them.
        const change = body as Operations["PATCH /admin/v1/accounts/{id}"]["body"];
        onChange(await ask("PATCH /admin/v1/accounts/{id}", { path, body: change }));
        draft.clear();
        say("Saved. A running server follows within a second.");
      }}
    />
  );
}
