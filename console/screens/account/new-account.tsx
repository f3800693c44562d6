import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Page } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { type Draft, useDraft } from "../../shell/draft.ts";
import { go, hrefOf } from "../../shell/router.ts";
import { say } from "../../shell/toasts.tsx";

const START = { name: "", mode: "prepaid", credit: "" };

/** Makes an account. Its other terms are set on its own screen. */
export function NewAccount() {
  const { fields, set, clear } = useDraft("accounts/new", START);
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const create = async () => {
    setBusy(true);
    setProblem(undefined);
    const { name, mode, credit } = fields;
    try {
      const made = await ask("POST /admin/v1/accounts", {
        body: {
          ...{ name: name.trim(), mode: mode === "unlimited" ? "unlimited" : "prepaid" },
          ...(credit.trim() === "" ? {} : { credit: credit.trim() }),
        },
      });
      clear();
      say(`Account ${made.name} is made. Now create its first key.`);
      go(hrefOf("accounts", made.id));
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page title="Create an account">
      <p>
        <Link href={hrefOf("accounts")}>← All accounts</Link>
      </p>
      <form
        noValidate
        class="flex max-w-2xl flex-col gap-4 rounded-xl border border-line bg-card p-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void create();
        }}
      >
        <Fields fields={fields} set={set} problem={problem} />
        {problem !== undefined && <Trouble problem={problem} />}
        <div>
          <Button look="main" type="submit" isBusy={isBusy}>
            Create account
          </Button>
        </div>
      </form>
    </Page>
  );
}

function Fields({
  fields,
  set,
  problem,
}: Pick<Draft<typeof START>, "fields" | "set"> & { readonly problem: unknown }) {
  const param = problem instanceof ApiProblem ? problem.param : undefined;
  const beside = (name: string) => (param === name && problem instanceof Error ? problem.message : undefined);
  return (
    <>
      <Field
        label="Name"
        autocomplete="off"
        value={fields.name}
        hint="The customer, the team or the project that pays."
        problem={beside("name")}
        onText={(name) => set({ name })}
      />
      <Choice
        label="Mode"
        value={fields.mode}
        choices={[
          ["prepaid", "prepaid: spends its credit, and is refused when there is none left"],
          ["unlimited", "unlimited: is counted, and refused only beyond 8e9 USD owed"],
        ]}
        problem={beside("mode")}
        onChoice={(mode) => set({ mode })}
      />
      <Field
        label="First credit, USD"
        value={fields.credit}
        placeholder="0.00"
        hint="Written to its ledger as it is made. Empty: nothing."
        problem={beside("credit")}
        onText={(credit) => set({ credit })}
      />
    </>
  );
}
