/** The index of prompts. Every method is one transaction, durable before its promise resolves. Throws `StorageError`. */
export interface SearchStore {
  /**
   * Adds the prompts of the next tasks, in the order in which they were accepted. After a crash, no task is missing and none is
   * indexed twice.
   *
   * @param limit tasks, ≥ 1
   * @returns how many tasks were looked at: fewer than `limit` when there are no more
   */
  index(limit: number): Promise<number>;
  /** Empties the index. The next `index` starts from the beginning. */
  clear(): Promise<void>;
}
