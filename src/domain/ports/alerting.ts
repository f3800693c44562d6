import type { AlertWish, Notice, Told } from "../alerts.ts";

/** Somebody who is told of what is wrong. */
export interface AlertTarget extends AlertWish {
  /** The same after a restart; says nothing of an address that may be secret. */
  readonly id: string;
  /** For people: where it goes, without what may be secret. */
  readonly name: string;
  /** @throws Error that says why it could not be told, without secrets */
  send(notices: readonly Notice[], signal: AbortSignal): Promise<void>;
}

/** What targets were told, by their ids. Outlives the process where it can. */
export interface AlertMemory {
  load(): Readonly<Record<string, readonly Told[]>>;
  save(told: Readonly<Record<string, readonly Told[]>>): void;
}
