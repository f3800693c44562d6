/** The index of prompts. Every method is one transaction, durable before its promise resolves. Throws `StorageError`. */
export interface SearchStore {
  /**
   * Adds the prompts of the next tasks, in the order in which they were accepted. A crash leaves no task out, and none in twice.
   *
   * @param limit tasks, ≥ 1
   * @returns how many tasks were looked at: fewer than `limit` when there are no more
   */
  index(limit: number): Promise<number>;
  /** Removes everything from the index, which begins anew with the next `index`. */
  clear(): Promise<void>;
}
