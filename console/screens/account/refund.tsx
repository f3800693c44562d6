import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Field } from "../../parts/field.tsx";
import { Money, moneyText } from "../../parts/money.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { useDraft } from "../../shell/draft.ts";
import { say } from "../../shell/toasts.tsx";
import { amountProblem, microsOf } from "./amount.ts";
import type { Account } from "./read.ts";

interface Props {
  readonly taskId: string;
  /** What the task was charged. */
  readonly charged: string;
  readonly onClose: () => void;
  readonly onDone: (account: Account) => void;
}

/** Gives back what a task was charged: first what, then what will be written. A task is refunded once, however often it is sent. */
export function Refund({ taskId, charged, onClose, onDone }: Props) {
  const draft = useDraft(`refund/${taskId}`, { amount: "", reason: "" });
  const [isShown, setShown] = useState(false);
  const [isChecked, setChecked] = useState(false);
  const amount = draft.fields.amount.trim() === "" ? charged : draft.fields.amount.trim();
  const reason = draft.fields.reason.trim();
  const wrong = refundProblem(amount, charged);
  const missing = reason === "" ? "Say why; it stays in the ledger for ever." : undefined;
  const done = (account: Account, refunded: string) => {
    draft.clear();
    say(`${moneyText(refunded)} given back; ${account.name} now has ${moneyText(account.balance)}.`);
    onDone(account);
    onClose();
  };
  return (
    <Dialog title={`Refund task …${taskId.slice(-8)}`} onClose={onClose}>
      {isShown ? (
        <Written {...{ taskId, amount, reason, done }} onBack={() => setShown(false)} />
      ) : (
        <form
          noValidate
          class="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            setChecked(true);
            if (wrong === undefined && missing === undefined) setShown(true);
          }}
        >
          <Field
            label="Amount, USD"
            value={draft.fields.amount}
            placeholder={charged}
            autocomplete="off"
            hint={`Empty: all of ${moneyText(charged)}.`}
            problem={isChecked ? wrong : undefined}
            onText={(text) => draft.set({ amount: text })}
          />
          <Field
            label="Reason"
            value={draft.fields.reason}
            placeholder="one was blurred"
            problem={isChecked ? missing : undefined}
            onText={(text) => draft.set({ reason: text })}
          />
          <div>
            <Button look="main" type="submit">
              Show what will be written
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

function refundProblem(amount: string, charged: string): string | undefined {
  const wrong = amountProblem(amount);
  if (wrong !== undefined) return wrong;
  const [micros = 0n, most = 0n] = [microsOf(amount), microsOf(charged)];
  return micros < 0n || micros > most ? `Type at most ${charged}, which it was charged.` : undefined;
}

function Written({
  taskId,
  amount,
  reason,
  done,
  onBack,
}: {
  readonly taskId: string;
  readonly amount: string;
  readonly reason: string;
  readonly done: (account: Account, refunded: string) => void;
  readonly onBack: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const write = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const body = { amount, reason };
      const { account, refunded } = await ask("POST /admin/v1/tasks/{id}/refund", {
        path: { id: taskId },
        body,
      });
      done(account, refunded);
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <div class="flex flex-col gap-4">
      <p>
        This entry will be written to the ledger. A task is refunded once, in whole or in part; its usage and
        its key's quota go on to count what was charged.
      </p>
      <Facts
        facts={[
          [
            "Task",
            <code key="task" class="font-mono text-sm break-all">
              {taskId}
            </code>,
          ],
          ["Given back", <Money key="amount" amount={amount} />],
          ["Reason", <bdi key="reason">{reason}</bdi>],
        ]}
      />
      {problem !== undefined && <Trouble problem={problem} />}
      <div class="flex flex-wrap gap-2">
        <Button look="main" isBusy={isBusy} onClick={() => void write()}>
          Write it
        </Button>
        <Button onClick={onBack}>Back</Button>
      </div>
    </div>
  );
}
