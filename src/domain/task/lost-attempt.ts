import type { Micros } from "../money/money.ts";
import type { Attempt, Task } from "./task.ts";

/** A submission without an answer, whose task has ended. */
export interface LostAttempt {
  readonly task: Task;
  readonly attempt: Attempt;
}

/** The outcome of such a submission. */
export interface LostEnd {
  readonly state: "done" | "rejected";
  /** What it cost the operator. Absent: the booked cost stays. */
  readonly costMicros?: Micros | undefined;
  /** Why, in our words. */
  readonly detail: string;
}
