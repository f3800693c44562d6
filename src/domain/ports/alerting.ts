import type { AlertWish, Notice, Told } from "../alerts.ts";

/** A place to which alerts are sent. */
export interface AlertTarget extends AlertWish {
  /** Stays the same after a restart. Reveals nothing about an address that may be secret. */
  readonly id: string;
  /** Where alerts go, for people, without anything that may be secret. */
  readonly name: string;
  /** @throws Error that says without secrets why the alert could not be sent */
  send(notices: readonly Notice[], signal: AbortSignal): Promise<void>;
}

/** The alerts that each target received, by target id. They outlive the process where possible. */
export interface AlertMemory {
  load(): Readonly<Record<string, readonly Told[]>>;
  save(told: Readonly<Record<string, readonly Told[]>>): void;
}
