import type { CallbackId, TaskId } from "./ids.ts";

/** A promise to tell the caller's address about a task's end; written in the transaction that ends the task. */
export interface Callback {
  readonly id: CallbackId;
  readonly taskId: TaskId;
  readonly requestId: string;
  readonly url: string;
  /** Sends begun so far; counted before each send, so that no crash can make a sixth. */
  readonly attempts: number;
  readonly state: "due" | "delivered" | "dead";
  readonly dueAt: number;
}

/** How one send went. */
export type Delivery =
  | { readonly kind: "delivered"; readonly status: number }
  | { readonly kind: "refused"; readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly kind: "unreachable"; readonly reason: string }
  /** The address may not be called at all (address guard); not retried. */
  | { readonly kind: "forbidden"; readonly reason: string };
