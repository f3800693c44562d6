import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { type ProviderInFull, type Tested, targetText, testAccounts } from "./read.ts";
import { TestResult } from "./test-result.tsx";

interface Props {
  readonly provider: ProviderInFull;
  /** Whose key is replaced. */
  readonly account?: string | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** What came of a key: the server has it, and perhaps has proved it. */
interface Kept {
  readonly account: string;
  readonly name: string;
  readonly isInForce: boolean;
  readonly tested?: Tested | undefined;
}

/** Keeps the key of an account, and tests it at once. The secrets are nowhere but in their fields, and gone when they were sent. */
export function AddKey({ provider, account, onClose, onDone }: Props) {
  const [kept, setKept] = useState<Kept>();
  const [start, setStart] = useState(account ?? (provider.available ? "" : "default"));
  const [isBusy, setBusy] = useState(false);
  return (
    <Dialog
      title={account === undefined ? `Add a key of ${provider.title}` : `Replace the key of ${account}`}
      isFirm={isBusy}
      onClose={onClose}
    >
      {kept === undefined ? (
        <KeyForm
          provider={provider}
          account={account}
          start={start}
          isBusy={isBusy}
          onBusy={setBusy}
          onKept={(done) => {
            setKept(done);
            setStart(done.account);
            onDone();
          }}
        />
      ) : (
        <Outcome kept={kept} onAgain={() => setKept(undefined)} onClose={onClose} />
      )}
    </Dialog>
  );
}

type Secrets = Readonly<Record<string, string>>;

interface FormProps {
  readonly provider: ProviderInFull;
  readonly account: string | undefined;
  /** The name that the field has at first. */
  readonly start: string;
  /** Whether it is being kept and tested: until it is known what came of it, nobody should look away. */
  readonly isBusy: boolean;
  readonly onBusy: (isBusy: boolean) => void;
  readonly onKept: (kept: Kept) => void;
}

function KeyForm({ provider, account, start, isBusy, onBusy, onKept }: FormProps) {
  const [name, setName] = useState(start);
  const [kind, setKind] = useState(0);
  const [secrets, setSecrets] = useState<Secrets>({});
  const { id, kinds } = provider;
  const names = kinds[kind] ?? [];
  const given = Object.fromEntries(names.map((each) => [each, (secrets[each] ?? "").trim()]));
  const keeping = useKeeping(id, name.trim(), given, {
    onBusy,
    onKept(kept) {
      setSecrets({});
      onKept(kept);
    },
  });
  return (
    <form
      noValidate
      class="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void keeping.send();
      }}
    >
      {account === undefined && (
        <AccountField value={name} problem={keeping.problemOf("account", name)} onText={setName} />
      )}
      {kinds.length > 1 && (
        <Choice
          label="What it has"
          value={String(kind)}
          choices={kinds.map((each, i) => [String(i), each.map(wordsOf).join(" and ")] as const)}
          onChoice={(choice) => setKind(Number(choice))}
        />
      )}
      {names.map((each) => (
        <SecretField
          key={each}
          name={each}
          value={secrets[each] ?? ""}
          problem={keeping.problemOf(`secrets.${each}`, secrets[each] ?? "")}
          onText={(text) => setSecrets((before) => ({ ...before, [each]: text }))}
        />
      ))}
      <p class="text-sm text-soft">
        It is kept sealed in the data folder, and goes to the provider alone. A key in a variable or in
        svc.yaml counts before it. Nobody can show it again.
      </p>
      {keeping.problem !== undefined && <Trouble problem={keeping.problem} />}
      <div>
        <Button look="main" type="submit" isBusy={isBusy}>
          Keep and test it
        </Button>
      </div>
    </form>
  );
}

function AccountField(given: Omit<SecretProps, "name">) {
  return (
    <Field
      label="Account"
      autocomplete="off"
      spellcheck={false}
      placeholder="second"
      hint="Of lower-case letters, digits, - and _. default is the usual one; others get tasks beside it."
      {...given}
    />
  );
}

interface SecretProps {
  readonly name: string;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onText: (text: string) => void;
}

function SecretField({ name, ...given }: SecretProps) {
  const label = wordsOf(name);
  return (
    <Field
      label={label.charAt(0).toUpperCase() + label.slice(1)}
      type="password"
      autocomplete="off"
      spellcheck={false}
      {...given}
    />
  );
}

/** Sends a key, and keeps what was wrong with it. */
function useKeeping(
  id: string,
  account: string,
  secrets: Secrets,
  { onBusy, onKept }: Pick<FormProps, "onBusy" | "onKept">,
) {
  const [isTried, setTried] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  return {
    problem,
    /** What is wrong with a field, by the name that the service has for it. */
    problemOf(param: string, text: string): string | undefined {
      if (isTried && text.trim() === "") return "Type or paste it.";
      return problem instanceof ApiProblem && problem.param === param ? problem.message : undefined;
    },
    async send() {
      setTried(true);
      if ([account, ...Object.values(secrets)].includes("")) return;
      onBusy(true);
      setProblem(undefined);
      try {
        onKept(await keep(id, account, secrets));
      } catch (error) {
        setProblem(error);
      } finally {
        onBusy(false);
      }
    },
  };
}

/** @throws ApiProblem where it is not kept */
async function keep(id: string, account: string, secrets: Readonly<Record<string, string>>): Promise<Kept> {
  const { in_force: isInForce } = await ask("POST /admin/v1/providers/{id}/add", {
    path: { id },
    body: { account, secrets: { ...secrets } },
  });
  const of = { account, name: targetText({ provider: id, account }) };
  if (!isInForce) return { ...of, isInForce };
  try {
    const [tested] = await testAccounts(id, account);
    return { ...of, isInForce, tested };
  } catch (error) {
    // It is kept, whatever becomes of the test. An account that is not on cannot be found.
    return { ...of, isInForce: !(error instanceof ApiProblem && error.status === 404) };
  }
}

interface OutcomeProps {
  readonly kept: Kept;
  readonly onAgain: () => void;
  readonly onClose: () => void;
}

function Outcome({ kept: { name, isInForce, tested }, onAgain, onClose }: OutcomeProps) {
  const isWrong = tested !== undefined && tested.result !== "ok" && tested.result !== "untested";
  const text = useRef<HTMLParagraphElement>(null);
  // The field that had the focus is gone; the keyboard and screen readers go on here.
  useEffect(() => text.current?.focus(), []);
  return (
    <div class="flex flex-col gap-4">
      <p ref={text} tabIndex={-1}>
        The key of {name} is kept.{" "}
        {isInForce
          ? "The account is on."
          : "The server has not taken it up. Its next start does; until then its log and its settings say what is in the way."}
      </p>
      {tested !== undefined && <TestResult tested={tested} />}
      <div class="flex flex-wrap gap-2">
        {isWrong && <Button onClick={onAgain}>Give it another key</Button>}
        <Button look="main" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  );
}

function wordsOf(name: string): string {
  return name.replaceAll("_", " ");
}
