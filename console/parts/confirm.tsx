import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Trouble } from "./trouble.tsx";

interface Props {
  readonly title: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly look?: "main" | "danger";
  /** What will be. */
  readonly children: ComponentChildren;
  /** @throws what is then said in the dialog */
  readonly onYes: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone, and stays open until it is known what came of it, which may be a secret. */
export function Confirm({ title, action, look = "danger", children, onYes, onClose }: Props) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const go = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await onYes();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} isFirm={isBusy} onClose={onClose}>
      <div class="flex flex-col gap-3">
        {children}
        {problem !== undefined && <Trouble problem={problem} />}
        <div class="mt-1 flex flex-wrap gap-2">
          <Button look={look} isOnce isBusy={isBusy} onClick={() => void go()}>
            {action}
          </Button>
          <Button isOnce isBusy={isBusy} onClick={onClose}>
            Leave it as it is
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
