import type { Callback, CallbackTerms } from "../callback/callback.ts";
import type { CallbackId, TaskId } from "../ids.ts";
import type { Task } from "../task/task.ts";

/** What a callback tells. */
export interface ToldEvent {
  /** The task's state when the callback is made. The task may have changed since `at`. */
  readonly task: Task;
  readonly event: Callback["event"];
  /** When it happened. */
  readonly at: number;
  /** Scheme and host of our URLs in the body. */
  readonly origin: string;
  readonly options: CallbackTerms["options"];
}

/** The facts about one send that its headers depend on. */
export interface SentBody {
  /** The same for every send of a callback. */
  readonly id: CallbackId | TaskId;
  readonly task: Task;
  /** When it leaves. */
  readonly at: number;
  readonly body: string;
  /** The signing secrets of the key that created the task; see `changeSigning`. Absent if the key has none. */
  readonly kept: string | undefined;
}

/**
 * How callbacks are worded and sent for callers who expect a form other than ours. The code that creates a task names the form
 * (`CallbackTerms.form`). The address guard, isolation, records and redelivery are the same for all forms.
 */
export interface CallbackForm {
  /**
   * The delays before attempts 2, 3 and so on: one fewer than `CallbackTerms.attempts`, each at most 50 minutes. Absent: the
   * delays of the default form.
   */
  readonly delaysMs?: readonly number[] | undefined;
  /** Whether secrets of the key sign the callback. If so, nothing is sent while the secrets cannot be opened. */
  readonly isSignedByKey: boolean;
  /** JSON text. It stays the same for every send as long as the task's files do. */
  body(told: ToldEvent): string | Promise<string>;
  /** Headers in addition to `CALLBACK_HEADERS`, which it cannot replace. */
  headers(send: SentBody): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  /** Whether an answer's status acknowledges it; 200 to 299 unless given. */
  accepts?(status: number): boolean;
}

/** Finds a form by its name; undefined for one that this program does not have. */
export type CallbackForms = (name: string) => CallbackForm | undefined;
