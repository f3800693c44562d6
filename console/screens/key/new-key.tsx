import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import type { Operations, Schemas } from "../../api/published.d.ts";
import { readTerms, textsOf } from "../../api/terms.ts";
import { useReading } from "../../api/use.ts";
import { AccountChoice, accountsToChoose, MOST_CHOICES } from "../../parts/account-choice.tsx";
import { Field } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { TermsForm } from "../../parts/terms-form.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { type Draft, useDraft } from "../../shell/draft.ts";
import { go, hrefOf, query } from "../../shell/router.ts";
import { FIRST_TERMS } from "./read.ts";
import { SecretDialog } from "./secret-dialog.tsx";

type Made = Schemas["ApiKeyWithSecret"];
const DEFAULT = "default";

async function readStart(signal: AbortSignal) {
  const [terms, accounts] = await Promise.all([readTerms("POST /admin/v1/keys"), accountsToChoose(signal)]);
  return { terms, accounts };
}

/** Makes a key. The form is made of the service's own table of a key's terms. */
export function NewKey() {
  const { data, problem, again } = useReading("new key", readStart);
  return (
    <Page title="Create a key">
      <p>
        <Link href={hrefOf("keys")}>← All keys</Link>
      </p>
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Reading what="what a key may be given" />}
      {data !== undefined && <Form {...data} />}
    </Page>
  );
}

function Form({ terms, accounts }: Awaited<ReturnType<typeof readStart>>) {
  // Of very many accounts, not all are read: the default one may be among the others.
  const other = accounts.length > MOST_CHOICES ? "" : accounts[0]?.id;
  const owner = query.value.account ?? accounts.find(({ name }) => name === DEFAULT)?.id ?? other;
  const before = textsOf(terms, {});
  const draft = useDraft<Record<string, string>>("keys/new", {
    ...before,
    ...{ name: "", account: owner ?? "" },
  });
  const [made, setMade] = useState<Made>();
  const create = async (body: Readonly<Record<string, unknown>>) => {
    const { name = "", account = "" } = draft.fields;
    if (name.trim() === "")
      throw new ApiProblem("Give the key a name, such as the program that will use it.", {
        ...{ status: 0, code: "invalid_request", param: "name" },
      });
    // The terms are as the service's own description has them.
    const request = { ...body, name: name.trim(), ...(account === "" ? {} : { account }) };
    setMade(await sent(request as Operations["POST /admin/v1/keys"]["body"]));
    draft.clear();
  };
  return (
    <>
      <TermsForm
        terms={terms}
        first={FIRST_TERMS}
        before={before}
        draft={draft}
        action="Create key"
        isNew
        own={["name", "account"]}
        onSend={create}
      >
        {(problems) => <NameAndAccount draft={draft} accounts={accounts} problems={problems} />}
      </TermsForm>
      {made !== undefined && (
        <SecretDialog
          title={`Key ${made.name} is made`}
          secret={made.key}
          models={made.models}
          onDone={() => go(hrefOf("keys", made.id))}
        />
      )}
    </>
  );
}

interface OwnFields {
  readonly draft: Draft<Record<string, string>>;
  readonly accounts: readonly Schemas["Account"][];
  readonly problems: Readonly<Record<string, string>>;
}

function NameAndAccount({ draft: { fields, set }, accounts, problems }: OwnFields) {
  return (
    <div class="grid grid-cols-1 gap-x-5 gap-y-4 sm:grid-cols-2 2xl:grid-cols-3">
      <Field
        label="Name"
        value={fields.name ?? ""}
        autocomplete="off"
        hint="What people call it, such as the program that will use it."
        problem={problems.name}
        onText={(name) => set({ name })}
      />
      <AccountChoice
        accounts={accounts}
        value={fields.account ?? ""}
        first={accounts.length === 0 || accounts.length > MOST_CHOICES ? [["", DEFAULT]] : []}
        nameOf={({ name, mode }) => `${name} (${mode})`}
        hint="Who pays for what the key makes."
        problem={problems.account}
        onChoice={(account) => set({ account })}
      />
    </div>
  );
}

async function sent(body: Operations["POST /admin/v1/keys"]["body"]): Promise<Made> {
  try {
    return await ask("POST /admin/v1/keys", { body });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== "unreachable") throw error;
    throw new ApiProblem(
      "No answer came, so nobody knows whether the key was made. Look at the list of keys: if it is there, revoke it and create another, because its secret is lost.",
      { status: 0, code: "unknown" },
      error,
    );
  }
}
