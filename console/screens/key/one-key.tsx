import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import type { Operations } from "../../api/published.d.ts";
import { textsOf } from "../../api/terms.ts";
import { Button } from "../../parts/button.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Meter } from "../../parts/meter.tsx";
import { moneyText } from "../../parts/money.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { TermsForm } from "../../parts/terms-form.tsx";
import { Time, timeText } from "../../parts/time.tsx";
import { useDraft } from "../../shell/draft.ts";
import { hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { say } from "../../shell/toasts.tsx";
import { Revoke, Rotate, SignCallbacks } from "./changes.tsx";
import { type ApiKey, FIRST_TERMS, type KeyInFull, type Quota } from "./read.ts";
import { UseIt } from "./use-it.tsx";

interface Props {
  readonly data: KeyInFull;
  readonly onChange: (key: ApiKey) => void;
}

type Asked = "rotate" | "revoke" | "sign";

/** A key: what it may do, what is left of its quota, and how to use it. */
export function OneKey({ data, onChange }: Props) {
  const { key, quota } = data;
  const [asked, setAsked] = useState<Asked>();
  const isUsable = key.status !== "revoked" && may("keys");
  const close = () => setAsked(undefined);
  const changed = (next: ApiKey) => onChange(next);
  return (
    <Page
      title={key.name}
      actions={
        isUsable && (
          <>
            <Button onClick={() => setAsked("sign")}>Sign callbacks</Button>
            <Button onClick={() => setAsked("rotate")}>Rotate</Button>
            <Button look="danger" onClick={() => setAsked("revoke")}>
              Revoke
            </Button>
          </>
        )
      }
    >
      <p>
        <Link href={hrefOf("keys")}>← All keys</Link>
      </p>
      <KeyFacts data={data} />
      {quota !== undefined && <QuotaLeft quota={quota} />}
      {key.status === "revoked" ? (
        <p class="text-soft">It is revoked for good: nothing about it can be changed.</p>
      ) : (
        <Section title="What it may do">
          <Limits data={data} onChange={changed} />
        </Section>
      )}
      {key.status !== "revoked" && (
        <Section title="Use it">
          <UseIt reader="operator" models={key.models} />
        </Section>
      )}
      {asked === "rotate" && <Rotate value={key} onClose={close} onChange={changed} />}
      {asked === "revoke" && <Revoke value={key} onClose={close} onChange={changed} />}
      {asked === "sign" && <SignCallbacks value={key} onClose={close} onChange={changed} />}
    </Page>
  );
}

function KeyFacts({ data: { key, account } }: Pick<Props, "data">) {
  return (
    <div class="rounded-xl border border-line bg-card p-4">
      <Facts
        facts={[
          ["State", <Status key="state" word={key.status} />],
          [
            "Key",
            <code key="display" class="font-mono">
              {key.display}
            </code>,
          ],
          [
            "Account",
            <Link key="account" href={hrefOf("accounts", account.id)}>
              {account.name}
            </Link>,
          ],
          [
            "Tasks",
            <Link key="tasks" href={hrefOf("tasks", "", { account: account.id })}>
              those of its account
            </Link>,
          ],
          ["Made", <Time key="made" at={key.created_at} />],
          ["Expires", key.expires_at === null ? "never" : timeText(key.expires_at)],
          ["Revoked", key.revoked_at === null ? undefined : timeText(key.revoked_at)],
          ["Callbacks", key.signs_callbacks ? "are signed" : "are not signed"],
          [
            "Earlier secret",
            key.previous === null
              ? undefined
              : `${key.previous.display} is taken until ${timeText(key.previous.expires_at)}`,
          ],
          [
            "Id",
            <code key="id" class="font-mono text-xs break-all sm:text-sm">
              {key.id}
            </code>,
          ],
        ]}
      />
    </div>
  );
}

function QuotaLeft({ quota }: { readonly quota: Quota }) {
  const spent = Number(quota.used) + Number(quota.reserved);
  const limit = Number(quota.limit);
  const anew = quota.resets_at === null ? "" : ` It begins anew ${timeText(quota.resets_at)}.`;
  return (
    <Section title="Quota">
      <Meter
        share={limit > 0 ? spent / limit : 1}
        text={`${moneyText(quota.remaining)} left of ${moneyText(quota.limit)}; ${moneyText(quota.used)} charged, ${moneyText(quota.reserved)} held.${anew}`}
      />
    </Section>
  );
}

function Limits({ data: { key, terms }, onChange }: Props) {
  const before = textsOf(terms, key);
  const path = { id: key.id };
  const draft = useDraft<Record<string, string>>(`keys/${key.id}`, {});
  return (
    <TermsForm
      terms={terms}
      first={FIRST_TERMS}
      before={before}
      draft={draft}
      action="Save"
      onLook={async () => {
        const now = await ask("GET /admin/v1/keys/{id}", { path });
        onChange(now);
        return textsOf(terms, now);
      }}
      onSend={async (body) => {
        // The terms are as the service's own description has them.
        const change = body as Operations["PATCH /admin/v1/keys/{id}"]["body"];
        onChange(await ask("PATCH /admin/v1/keys/{id}", { path, body: change }));
        draft.clear();
        say("Saved. A running server follows within a second.");
      }}
    />
  );
}
