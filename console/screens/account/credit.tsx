import { useState } from "preact/hooks";
import { ask, newIdempotencyKey } from "../../api/ask.ts";
import { ApiProblem } from "../../api/problem.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Money, moneyText } from "../../parts/money.tsx";
import { useDraft } from "../../shell/draft.ts";
import { say } from "../../shell/toasts.tsx";
import { addAmounts, amountProblem } from "./amount.ts";
import { AskEntry } from "./ask-entry.tsx";
import type { Account } from "./read.ts";
import { WriteEntry } from "./write-entry.tsx";

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
  const [isBusy, setBusy] = useState(false);
  const { amount, reason, once } = draft.fields;
  const set = (change: { amount?: string; reason?: string }) =>
    draft.set({ ...change, ...(once === "" ? { once: newIdempotencyKey() } : {}) });
  const done = (after: Account) => {
    draft.clear();
    onChange(after);
    say(`Written. ${after.name} now has ${moneyText(after.balance)}.`);
    onClose();
  };
  const show = async () => {
    // Tasks, or somebody else, may have moved the balance since the screen was read.
    onChange(await ask("GET /admin/v1/accounts/{id}", { path: { id: account.id } }));
    setShown(true);
  };
  const anew = () => {
    draft.clear();
    setShown(false);
  };
  return (
    <Dialog title={`Credit ${account.name}`} isFirm={isBusy} onClose={onClose}>
      {isShown ? (
        <WriteEntry
          about="This entry will be written to the ledger. Nothing removes an entry; another one can undo it."
          facts={[
            ["Account", account.name],
            ["Entry", <Money key="amount" amount={amount.trim()} />],
            ["Reason", <bdi key="reason">{reason.trim()}</bdi>],
            ["Balance now", <Money key="before" amount={account.balance} />],
            ["Balance after", <Money key="after" amount={addAmounts(account.balance, amount.trim())} />],
          ]}
          onWrite={async () => done(await sent(account, amount.trim(), reason.trim(), once))}
          onBack={() => setShown(false)}
          onBusy={setBusy}
          help={(problem) => isConflict(problem) && <Conflict onAnew={anew} />}
        />
      ) : (
        <AskEntry
          amount={amount}
          reason={reason}
          amountHint="Added to the balance. Below zero it is taken from it."
          amountPlaceholder="10.00"
          reasonPlaceholder="invoice 12"
          problem={amountProblem(amount)}
          onText={set}
          onNext={show}
        />
      )}
    </Dialog>
  );
}

function sent(account: Account, amount: string, reason: string, once: string): Promise<Account> {
  return ask(
    "POST /admin/v1/accounts/{id}/credit",
    { path: { id: account.id }, body: { amount, reason } },
    { idempotencyKey: once },
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
