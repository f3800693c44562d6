import type { TaskView } from "../../client/answer.ts";
import type { TaskSource } from "../../client/task-source.ts";
import { hasEnded } from "../../client/wait.ts";

/** Tasks that end together are charged before this has passed. */
const AFTER_END_MS = 3_000;

/** Reads what was spent today: at the start, and after tasks ended. */
export function followSpending({ spentToday }: TaskSource, tell: (amount: string) => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = async () => {
    // Tasks are watched all the same where this cannot be read.
    const amount = await spentToday?.().catch(() => undefined);
    if (amount !== undefined) tell(amount);
  };
  void read();
  return {
    after(changed: readonly TaskView[]) {
      if (spentToday === undefined || !changed.some(hasEnded)) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void read();
      }, AFTER_END_MS);
    },
    stop: () => clearTimeout(timer),
  };
}
