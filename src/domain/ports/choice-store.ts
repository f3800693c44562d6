import type { KeyId } from "../ids.ts";

/**
 * What keys have chosen in advance for later requests, for APIs whose requests do not contain the choice. Every method is one
 * transaction.
 */
export interface ChoiceStore {
  /** What a key has chosen in this matter; undefined if it has chosen nothing. */
  chosen(key: KeyId, matter: string): Promise<string | undefined>;
  /** Holds for this key alone, until it chooses again. */
  choose(key: KeyId, matter: string, choice: string): Promise<void>;
}
