import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Money, moneyText } from "../../parts/money.tsx";
import { useDraft } from "../../shell/draft.ts";
import { say } from "../../shell/toasts.tsx";
import { amountProblem, microsOf } from "./amount.ts";
import { AskEntry } from "./ask-entry.tsx";
import type { Account } from "./read.ts";
import { WriteEntry } from "./write-entry.tsx";

interface Props {
  readonly taskId: string;
  /** What the task was charged. */
  readonly charged: string;
  readonly onClose: () => void;
  readonly onDone?: (account: Account) => void;
}

/** Gives back what a task was charged: first what, then what will be written. A task is refunded once, however often it is sent. */
export function Refund({ taskId, charged, onClose, onDone }: Props) {
  const draft = useDraft(`refund/${taskId}`, { amount: "", reason: "" });
  const [isShown, setShown] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const amount = draft.fields.amount.trim() === "" ? charged : draft.fields.amount.trim();
  const reason = draft.fields.reason.trim();
  const write = async () => {
    const body = { amount, reason };
    const { account, refunded } = await ask("POST /admin/v1/tasks/{id}/refund", {
      path: { id: taskId },
      body,
    });
    draft.clear();
    say(`${moneyText(refunded)} given back; ${account.name} now has ${moneyText(account.balance)}.`);
    onDone?.(account);
    onClose();
  };
  return (
    <Dialog title={`Refund task …${taskId.slice(-8)}`} isFirm={isBusy} onClose={onClose}>
      {isShown ? (
        <WriteEntry
          about="This entry will be written to the ledger. A task is refunded once, in whole or in part; its usage and its key's quota go on to count what was charged."
          facts={[
            [
              "Task",
              <code key="task" class="font-mono text-xs break-all sm:text-sm">
                {taskId}
              </code>,
            ],
            ["Given back", <Money key="amount" amount={amount} />],
            ["Reason", <bdi key="reason">{reason}</bdi>],
          ]}
          onWrite={write}
          onBack={() => setShown(false)}
          onBusy={setBusy}
        />
      ) : (
        <AskEntry
          amount={draft.fields.amount}
          reason={draft.fields.reason}
          amountHint={`Empty: all of ${moneyText(charged)}.`}
          amountPlaceholder={charged}
          reasonPlaceholder="one was blurred"
          problem={refundProblem(amount, charged)}
          onText={draft.set}
          onNext={() => setShown(true)}
        />
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
