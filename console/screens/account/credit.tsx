import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Field } from "../../parts/field.tsx";
import { Money, moneyText } from "../../parts/money.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useDraft } from "../../shell/draft.ts";
import { say } from "../../shell/toasts.tsx";
import { addAmounts, amountProblem } from "./amount.ts";
import type { Account } from "./read.ts";

interface Props {
  readonly account: Account;
  readonly onClose: () => void;
  readonly onChange: (account: Account) => void;
}

/**
 * Moves an account's balance by hand: first what, then what will be written, and only then is it written. The movement has a key of
 * its own from the first letter on, so it counts once however often it is sent.
 */
export function Credit({ account, onClose, onChange }: Props) {
  const draft = useDraft(`credit/${account.id}`, { amount: "", reason: "", once: "" });
  const [isShown, setShown] = useState(false);
  const { amount, reason, once } = draft.fields;
  const set = (change: { amount?: string; reason?: string }) =>
    draft.set({ ...change, ...(once === "" ? { once: newOnce() } : {}) });
  const done = (after: Account) => {
    draft.clear();
    onChange(after);
    say(`Written. ${after.name} now has ${moneyText(after.balance)}.`);
    onClose();
  };
  return (
    <Dialog title={`Credit ${account.name}`} onClose={onClose}>
      {isShown ? (
        <Written
          account={account}
          movement={{ amount: amount.trim(), reason: reason.trim(), once }}
          onDone={done}
          onBack={() => setShown(false)}
          onAnew={() => {
            draft.clear();
            setShown(false);
          }}
        />
      ) : (
        <Asked amount={amount} reason={reason} onText={set} onNext={() => setShown(true)} />
      )}
    </Dialog>
  );
}

/** A name for one movement. Pages that are not reached by TLS have no `randomUUID`. */
function newOnce(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

function Asked({
  amount,
  reason,
  onText,
  onNext,
}: {
  readonly amount: string;
  readonly reason: string;
  readonly onText: (change: { amount?: string; reason?: string }) => void;
  readonly onNext: () => void;
}) {
  const [isChecked, setChecked] = useState(false);
  const wrong = amountProblem(amount);
  const missing = reason.trim() === "" ? "Say why; it stays in the ledger for ever." : undefined;
  return (
    <form
      noValidate
      class="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (wrong === undefined && missing === undefined) onNext();
      }}
    >
      <Field
        label="Amount, USD"
        value={amount}
        placeholder="10.00"
        autocomplete="off"
        hint="Added to the balance. Below zero it is taken from it."
        problem={isChecked ? wrong : undefined}
        onText={(text) => onText({ amount: text })}
      />
      <Field
        label="Reason"
        value={reason}
        placeholder="invoice 12"
        hint="For the ledger."
        problem={isChecked ? missing : undefined}
        onText={(text) => onText({ reason: text })}
      />
      <div>
        <Button look="main" type="submit">
          Show what will be written
        </Button>
      </div>
    </form>
  );
}

function Written({
  account,
  movement: { amount, reason, once },
  onDone,
  onBack,
  onAnew,
}: {
  readonly account: Account;
  readonly movement: { readonly amount: string; readonly reason: string; readonly once: string };
  readonly onDone: (account: Account) => void;
  readonly onBack: () => void;
  readonly onAnew: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const write = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      onDone(
        await ask(
          "POST /admin/v1/accounts/{id}/credit",
          { path: { id: account.id }, body: { amount, reason } },
          { idempotencyKey: once },
        ),
      );
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <div class="flex flex-col gap-4">
      <p>This entry will be written to the ledger. Nothing removes an entry; another one can undo it.</p>
      <Facts
        facts={[
          ["Account", account.name],
          ["Entry", <Money key="amount" amount={amount} />],
          ["Reason", <bdi key="reason">{reason}</bdi>],
          ["Balance now", <Money key="before" amount={account.balance} />],
          ["Balance after", <Money key="after" amount={addAmounts(account.balance, amount)} />],
        ]}
      />
      {problem !== undefined && <Trouble problem={problem} />}
      {isConflict(problem) && <Conflict onAnew={onAnew} />}
      <div class="flex flex-wrap gap-2">
        <Button look="main" isBusy={isBusy} onClick={() => void write()}>
          Write it
        </Button>
        <Button onClick={onBack}>Back</Button>
      </div>
    </div>
  );
}

/** An earlier try of the same movement was written, and its answer was lost. */
function isConflict(problem: unknown): boolean {
  return problem instanceof ApiProblem && problem.code === "idempotency_conflict";
}

function Conflict({ onAnew }: { readonly onAnew: () => void }) {
  return (
    <div>
      <p class="mb-2">
        An earlier try with another amount or reason was written, though its answer did not arrive here. Look
        at the ledger before you write another one.
      </p>
      <Button onClick={onAnew}>Begin another movement</Button>
    </div>
  );
}
