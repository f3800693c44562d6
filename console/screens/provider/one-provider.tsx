import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import { may } from "../../shell/scopes.ts";
import { Needs } from "../providers/needs.tsx";
import { Problems } from "../providers/problems.tsx";
import { Accounts } from "./accounts.tsx";
import { AddKey } from "./add-key.tsx";
import { Allow, Block } from "./block.tsx";
import { Form } from "./form.tsx";
import { type Asked, factsOf, type Known, type ProviderInFull, type Tested, testAccounts } from "./read.ts";
import { RemoveKey } from "./remove-key.tsx";
import { Ways } from "./ways.tsx";

interface Props {
  readonly known: Known;
  /** Why it could not be read again. */
  readonly problem: unknown;
  readonly again: () => void;
}

/** A provider: its accounts, how they do, and which models take it. */
export function OneProvider({ known, problem, again }: Props) {
  const { provider, ways } = known;
  const [asked, setAsked] = useState<Asked>();
  const tests = useTests(provider.id, again);
  const mayAdd = may("system") && provider.kinds.length > 0;
  return (
    <Page
      title={provider.title}
      actions={
        <>
          {may("system") && provider.available && (
            <Button isBusy={tests.isBusy} onClick={() => void tests.run()}>
              Test
            </Button>
          )}
          {mayAdd && (
            <Button look="main" onClick={() => setAsked({ do: "add" })}>
              Add a key
            </Button>
          )}
        </>
      }
    >
      <p>
        <Link href={hrefOf("providers")}>← All providers</Link>
      </p>
      {problem !== undefined && <Trouble problem={problem} again={again} />}
      {tests.problem !== undefined && <Trouble problem={tests.problem} />}
      <Problems problems={provider.problems} />
      <About provider={provider} />
      <Section title="Accounts">
        {provider.available ? (
          <Accounts known={known} tested={tests.tested} onAsk={setAsked} />
        ) : (
          <Off provider={provider} />
        )}
      </Section>
      <Section title="Models">
        <Ways provider={provider} ways={ways} onAsk={setAsked} />
      </Section>
      {provider.form !== undefined && <Form id={provider.id} />}
      <Dialogs provider={provider} asked={asked} onClose={() => setAsked(undefined)} onDone={again} />
    </Page>
  );
}

/** The outcome of the last test of each account. */
function useTests(id: string, onProved: () => void) {
  const [tested, setTested] = useState<readonly Tested[]>([]);
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      setTested(await testAccounts(id));
      // A key that was refused and works now gets tasks again.
      onProved();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return { tested, problem, isBusy, run };
}

function About({ provider }: { readonly provider: ProviderInFull }) {
  const { id, form, models } = provider;
  const { base, regions, variables } = factsOf(provider);
  return (
    <div class="rounded-xl border border-line bg-card p-4">
      <Facts
        facts={[
          [
            "Id",
            <code key="id" class="font-mono text-sm">
              {id}
            </code>,
          ],
          ["Described by", describedBy(form)],
          ["Address", base],
          ["Regions", regions.join(", ")],
          ["Variables", variables.length === 0 ? "none" : <Needs key="variables" needs={variables} />],
          [
            "Models",
            models.length === 0 ? (
              "none has a route to it"
            ) : (
              <Link key="models" href={hrefOf("models", "", { provider: id })}>
                {models.length} with a route to it
              </Link>
            ),
          ],
          [
            "More",
            <span key="more" class="flex flex-wrap gap-x-6 gap-y-2">
              <Link href={hrefOf("money", "", { by: "provider" })}>What it cost</Link>
              <Link href={hrefOf("changes", "", { object: id })}>Who changed its keys</Link>
            </span>,
          ],
        ]}
      />
    </div>
  );
}

function describedBy(form: ProviderInFull["form"]): string {
  if (form === undefined) return "code of this program";
  return form.own ? `providers/${form.file ?? ""} in the data folder` : "a form that comes along";
}

function Off({ provider: { needs, kinds } }: { readonly provider: ProviderInFull }) {
  return (
    <Empty title="It is off">
      <div class="flex flex-col items-center gap-2">
        {needs.length > 0 && (
          <>
            <p>To switch it on, set this where the server starts:</p>
            <Needs needs={needs} />
          </>
        )}
        {kinds.length > 0 && (
          <p>Or add its key here: it is kept sealed in the data folder, and nothing has to be restarted.</p>
        )}
      </div>
    </Empty>
  );
}

interface DialogProps {
  readonly provider: ProviderInFull;
  readonly asked: Asked | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function Dialogs({ provider, asked, ...rest }: DialogProps) {
  switch (asked?.do) {
    case "add":
      return <AddKey provider={provider} account={asked.account} {...rest} />;
    case "remove":
      return <RemoveKey provider={provider} account={asked.account} {...rest} />;
    case "block":
      return <Block target={asked.target} {...rest} />;
    case "allow":
      return <Allow target={asked.target} {...rest} />;
    default:
      return null;
  }
}
