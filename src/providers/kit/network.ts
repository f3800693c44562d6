import { unpacked } from "../../toolkit/unpacked.ts";
import type { UnsignedRequest } from "./credentials.ts";

/** What a request is for: `call` of the API, `token` for credentials, `file` that was made. */
export type Use = "call" | "token" | "file";

/** The secrets of an account, also those that were minted. */
export interface Secrets {
  /** Removes them from a text of any length. */
  mask(text: string): string;
  /** Whether one of them is in a file. */
  isIn(file: Uint8Array): boolean;
}

/** A request as it leaves. */
export interface Sending {
  readonly url: URL;
  readonly init: BunFetchRequestInit;
  /** The same without credentials. */
  readonly unsigned: UnsignedRequest;
  readonly use: Use;
  readonly secrets: Secrets;
}

/** The network as one account sees it. */
export interface Network {
  /** Answers as the runtime's `fetch` does. A `ProviderError` that it throws reaches the scheduler as it is. */
  send(sending: Sending): Promise<Response>;
  /** Nothing leaves this machine: requests need no credentials, and no websocket opens. */
  readonly isPlayed?: boolean | undefined;
}

export const NETWORK: Network = { send: async ({ url, init }) => unpacked(await fetch(url, init)) };
