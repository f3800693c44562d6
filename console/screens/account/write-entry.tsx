import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Trouble } from "../../parts/trouble.tsx";

interface Props {
  /** What the reader should know of such an entry. */
  readonly about: string;
  readonly facts: Parameters<typeof Facts>[0]["facts"];
  /** @throws what is then said */
  readonly onWrite: () => Promise<void>;
  readonly onBack: () => void;
  /** Whether it is being written: until it is known what came of it, nobody should look away. */
  readonly onBusy: (isBusy: boolean) => void;
  /** What can be done about an error, beside trying again. */
  readonly help?: (problem: unknown) => ComponentChildren;
}

/** The second question before money moves: shows the entry as it will be in the ledger. */
export function WriteEntry({ about, facts, onWrite, onBack, onBusy, help }: Props) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const text = useRef<HTMLParagraphElement>(null);
  // The field that had the focus is gone; the keyboard and screen readers go on here.
  useEffect(() => text.current?.focus(), []);
  const write = async () => {
    setBusy(true);
    onBusy(true);
    setProblem(undefined);
    try {
      await onWrite();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    } finally {
      onBusy(false);
    }
  };
  return (
    <div class="flex flex-col gap-4">
      <p ref={text} tabIndex={-1}>
        {about}
      </p>
      <Facts facts={facts} />
      {problem !== undefined && <Trouble problem={problem} />}
      {problem !== undefined && help?.(problem)}
      <div class="flex flex-wrap gap-2">
        <Button look="main" isOnce isBusy={isBusy} onClick={() => void write()}>
          Write it
        </Button>
        <Button isOnce isBusy={isBusy} onClick={onBack}>
          Back
        </Button>
      </div>
    </div>
  );
}
