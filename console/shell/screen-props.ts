import type { Role } from "../api/session.ts";

/** What a screen is given. */
export interface ScreenProps {
  readonly role: Role;
  /** What the address names after the screen; empty for a screen as a whole. */
  readonly item: string;
}
