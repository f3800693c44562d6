import { Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import type { ListedCallback } from "../callbacks/list.ts";

/** Whether it was acknowledged, and what comes next. */
export function StateOf({
  callback: { state, redelivery_due, next_attempt_at },
}: {
  readonly callback: ListedCallback;
}) {
  return (
    <span class="flex flex-col">
      <Status word={state} />
      {redelivery_due ? (
        <span class="text-xs text-soft">sent once more now</span>
      ) : (
        next_attempt_at !== null && (
          <span class="text-xs text-soft">
            next attempt <Time at={next_attempt_at} />
          </span>
        )
      )}
    </span>
  );
}
