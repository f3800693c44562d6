import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { Trouble } from "../../parts/trouble.tsx";

interface Texts {
  readonly amount: string;
  readonly reason: string;
}

interface Props extends Texts {
  readonly amountHint: string;
  /** What an empty amount stands for, or an example of one. */
  readonly amountPlaceholder: string;
  readonly reasonPlaceholder: string;
  /** What is wrong with the amount. */
  readonly problem: string | undefined;
  readonly onText: (change: Partial<Texts>) => void;
  /** @throws what is then said */
  readonly onNext: () => Promise<void> | void;
}

/** The first question before money moves: how much, and why. */
export function AskEntry({ amount, reason, problem, onText, onNext, ...hints }: Props) {
  const [isChecked, setChecked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<unknown>();
  const next = async () => {
    setBusy(true);
    setTrouble(undefined);
    try {
      await onNext();
    } catch (error) {
      setTrouble(error);
    } finally {
      setBusy(false);
    }
  };
  const missing = reason.trim() === "" ? "Say why; it stays in the ledger." : undefined;
  return (
    <form
      noValidate
      class="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (problem === undefined && missing === undefined && !isBusy) void next();
      }}
    >
      <Field
        label="Amount, USD"
        value={amount}
        placeholder={hints.amountPlaceholder}
        autocomplete="off"
        hint={hints.amountHint}
        problem={isChecked ? problem : undefined}
        onText={(text) => onText({ amount: text })}
      />
      <Field
        label="Reason"
        value={reason}
        placeholder={hints.reasonPlaceholder}
        hint="For the ledger."
        problem={isChecked ? missing : undefined}
        onText={(text) => onText({ reason: text })}
      />
      {trouble !== undefined && <Trouble problem={trouble} />}
      <div>
        <Button look="main" type="submit" isBusy={isBusy}>
          Show what will be written
        </Button>
      </div>
    </form>
  );
}
