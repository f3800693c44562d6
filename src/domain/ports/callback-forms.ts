import type { Callback, CallbackTerms } from "../callback/callback.ts";
import type { CallbackId, TaskId } from "../ids.ts";
import type { Task } from "../task/task.ts";

/** What a callback tells. */
export interface ToldEvent {
  /** As it is when it is told; it may have gone on since `at`. */
  readonly task: Task;
  readonly event: Callback["event"];
  /** When it happened. */
  readonly at: number;
  /** Scheme and host of our URLs in it. */
  readonly origin: string;
  readonly options: CallbackTerms["options"];
}

/** One send, as far as headers depend on it. */
export interface SentBody {
  /** The same for every send of a callback. */
  readonly id: CallbackId | TaskId;
  readonly task: Task;
  /** When it leaves. */
  readonly at: number;
  readonly body: string;
  /** The signing secrets of the key that created the task; see `changeSigning`. Absent where it has none. */
  readonly kept: string | undefined;
}

/**
 * How callbacks are worded and sent for callers who know another form than ours. Whoever makes a task says by which name
 * (`CallbackTerms.form`); guard, isolation, records and redelivery are the same for all.
 */
export interface CallbackForm {
  /**
   * Before attempts 2, 3 and so on; one fewer than `CallbackTerms.attempts`, each of 50 minutes at most. Absent: as the default form's,
   * and as many.
   */
  readonly delaysMs?: readonly number[] | undefined;
  /** Whether secrets of the key sign it. Then nothing is sent while they cannot be opened. */
  readonly isSignedByKey: boolean;
  /** JSON text, the same for every send as long as the task's files are. */
  body(told: ToldEvent): string | Promise<string>;
  /** Beside `CALLBACK_HEADERS`, which cannot be replaced. */
  headers(send: SentBody): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
  /** Whether an answer's status acknowledges it; 200 to 299 unless given. */
  accepts?(status: number): boolean;
}

/** Finds a form by its name; undefined for one that this program does not have. */
export type CallbackForms = (name: string) => CallbackForm | undefined;
