import type { Json } from "../../../domain/json.ts";

/** Names one request of one client. */
export interface CallName {
  readonly keyId: string;
  /** As the client was told at its start. Two clients with one key count their requests alike, and only this tells them apart. */
  readonly session: string | undefined;
  readonly requestId: Json | undefined;
}

/**
 * The calls under way, so that a client can cancel one by another request. This is all that this facade stores about its clients,
 * and only during a call.
 */
export function createCancellations() {
  const calls = new Map<string, AbortController>();
  return {
    /** Begins a call. @returns its signal, and a function that ends it */
    begin(name: CallName): { readonly cancelled: AbortSignal; readonly end: () => void } {
      const controller = new AbortController();
      const key = keyOf(name);
      if (key === undefined) return { cancelled: controller.signal, end: () => {} };
      calls.set(key, controller);
      const end = () => {
        if (calls.get(key) === controller) calls.delete(key);
      };
      return { cancelled: controller.signal, end };
    },
    /** Cancels a call. Does nothing for one that is over, and for a client that does not say who it is. */
    cancel(name: CallName): void {
      const key = keyOf(name);
      if (key !== undefined) calls.get(key)?.abort();
    },
  };
}
export type Cancellations = ReturnType<typeof createCancellations>;

function keyOf({ keyId, session, requestId }: CallName): string | undefined {
  const isId = typeof requestId === "string" || typeof requestId === "number";
  return session === undefined || !isId ? undefined : JSON.stringify([keyId, session, requestId]);
}
