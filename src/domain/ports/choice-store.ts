import type { KeyId } from "../ids.ts";

/** What keys have chosen for the requests they send later, for APIs whose requests leave it out. Every method is one transaction. */
export interface ChoiceStore {
  /** What a key has chosen in this matter; undefined where it has chosen nothing. */
  chosen(key: KeyId, matter: string): Promise<string | undefined>;
  /** Holds for this key alone, until it chooses again. */
  choose(key: KeyId, matter: string, choice: string): Promise<void>;
}
