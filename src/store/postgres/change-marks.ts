/**
 * Every transaction that changes tasks takes, as an advisory lock of the database, a mark: the last number that was drawn
 * before. All numbers of its changes are above it. The key of such a lock consists of this constant and the number.
 */
export const CHANGE_MARK = 0x737663n << 32n;

/** The last number that a sequence gave, 0 before the first, as SQL. */
export const LAST_NUMBER = "case when is_called then last_value else 0 end";

/**
 * The lowest mark of a transaction that has not ended, null for none, as SQL. It is known where writes are made alone: a copy of the
 * database has no locks of theirs.
 *
 * @param after a condition on what must be read first
 */
export const leastMark = (after = "true"): string =>
  `select min((classid::bigint << 32 | objid::bigint) - ${CHANGE_MARK}) from pg_locks
   where locktype = 'advisory' and objsubid = 1 and database = (select oid from pg_database where datname = current_database())
     and classid::bigint between ${CHANGE_MARK >> 32n} and ${(CHANGE_MARK >> 32n) + 255n} and ${after}`;
