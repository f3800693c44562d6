/** Tables that an operator fills by hand, or that have one row. */
export const FEW = [
  ...["price_override", "route_trouble"],
  ...["heartbeat", "idempotency_merge", "schema_migration", "migration_step"],
];

/** A statement that may walk: the file of the store that prepares it, and a part of its text where not all of that file may. */
export interface AllowedWalk {
  readonly file: string;
  readonly part?: string;
  readonly why: string;
}

const UNDER_WAY = "Never more are under way than may run at once.";
const LIVE_ONCE = "Reads what is live once, at a start or when the clock was set.";
const CANCELLED_LATER = "Reads what something cancels later, at a start.";
const BACKLOG =
  "Counts what waits when the overview is first looked at; triggers keep the counts after that.";

/** Every statement of the store that reads to the end, passes over rows or sorts, and why that takes no longer than it may. */
export const ALLOWED: readonly AllowedWalk[] = [
  { file: "sqlite/audit", why: "The books are checked in a thread and on a connection of their own." },
  { file: "sqlite/backlog", why: BACKLOG },
  {
    file: "copy",
    why: "Asks a connection of its own, while a backup is made, and only when files are missing.",
  },
  {
    file: "sqlite/reclaimable",
    why: "What would free space is counted some rows at a time, on a connection of its own, and by a server in a thread.",
  },
  { file: "sqlite/inspection", why: "svc doctor looks, on a connection of its own, and counts to 100,000." },
  { file: "sqlite/time-store", why: LIVE_ONCE },
  { file: "sqlite/task-store/reads", part: "$.cancelAt", why: CANCELLED_LATER },
  { file: "sqlite/task-store/reads", part: "$.group.tasks", why: CANCELLED_LATER },
  { file: "sqlite/session-store", part: "order by", why: "A key or token has a hundred sessions at most." },
  { file: "sqlite/import-store", part: "order by", why: "A command reads what it has brought before." },
  { file: "sqlite/usage-report", why: "A server reads usage in a thread and on a connection of its own." },
  {
    file: "sqlite/account-store/ledger-reads",
    why: "Pages read as many rows as it says, then others have their turn; a whole ledger is read by a command.",
  },
  { file: "names", why: "A shell completes names by a command and a connection of its own." },
  {
    file: "sqlite/account-store/accounts",
    part: "low_balance_told = 1) and status",
    why: "Reads the accounts that have a level at which they are low, once a minute.",
  },
  {
    file: "sqlite/retention-store/expiry",
    part: "indexed by api_key_retains",
    why: "Reads the keys that say how long files are kept.",
  },
  { file: "sqlite/charged-since", why: "A key's rows of the days of a quota." },
  {
    file: "sqlite/spent-since",
    why: "Reads as many attempts as it says, in their index; then others have their turn.",
  },
  {
    file: "sqlite/usage-store",
    part: "from usage_day where account_id = ?",
    why: "An account's rows of a month.",
  },
  {
    file: "sqlite/quota",
    part: "task_live",
    why: "A key's live tasks, when a quota is given to it or taken away.",
  },
  { file: "sqlite/quotas", part: "delete from key_quota", why: "A key's rows, one for each period." },
  {
    file: "sqlite/account-store/tokens",
    part: "order by",
    why: "Sorts one token by its id and one by its name.",
  },
  {
    file: "sqlite/callback-store",
    part: "select (select count(*) from callback",
    why: "Counts what is owed in indexes alone, once a minute.",
  },
  {
    file: "sqlite/callback-store/lists",
    part: "(created_at, id) >= (?3, ?4)",
    why: "Only a filter by key or state passes over callbacks, and then a page looks at a thousand at most.",
  },
  {
    file: "sqlite/trail-store",
    part: "(at, id) <",
    why: "The first page after a cursor passes over entries of the cursor's own millisecond, and no others.",
  },
  {
    file: "sqlite/upload-store",
    part: "(created_at, id) <",
    why: "A page after a cursor passes over files of the cursor's own millisecond, and no others.",
  },
  {
    file: "sqlite/retention-store/expiry",
    part: "as owes",
    why: "A task has about a hundred callbacks at most.",
  },
  { file: "sqlite/callback-store/reads", part: "ended_at is null", why: UNDER_WAY },
  { file: "sqlite/callback-store/reads", part: '"ended_at" is null', why: UNDER_WAY },
  {
    file: "sqlite/callback-store/reads",
    part: '"callback_id" = ?',
    why: "A callback has 105 sends at most.",
  },
  { file: "sqlite/task-store/claim", part: "task_under_way", why: UNDER_WAY },
  { file: "sqlite/task-store/unsent", part: "task_under_way", why: UNDER_WAY },
  {
    file: "sqlite/task-store/claim",
    part: "task_awaits_results",
    why: "No more than a thousand tasks of a lane wait for their results.",
  },
  { file: "sqlite/task-store/lanes", part: "group by lane", why: LIVE_ONCE },
  {
    file: "sqlite/task-store/list",
    part: "with recursive used",
    why: "Reads on after the one task of an id.",
  },
  { file: "sqlite/task-store/managed-changes", part: "change = ?", why: "A change has one task." },
  {
    file: "sqlite/task-store/managed-changes",
    part: "number is not null",
    why: "Seeks once in each account, for a page of operators' events.",
  },
  { file: "sqlite/task-store/admit", part: "insert into task", why: "Nothing refers to a new task yet." },
  { file: "sqlite/callback-store/given-up", why: "A callback has 105 sends at most." },
  { file: "sqlite/callback-store/insert", why: "Nothing refers to a new callback yet." },
  {
    file: "sqlite/task-store/next-ready",
    part: "state = 'ambiguous'",
    why: "Passes over queued tasks whose submission got no answer, which are few.",
  },
  { file: "sqlite/task-store/lost-attempts", why: "Passes over what other providers lost within a day." },
  {
    file: "sqlite/task-store/recent-records",
    part: "merged_id",
    why: "Reads what was not merged before a start.",
  },
  { file: "sqlite/task-store/rescue", why: UNDER_WAY },
  {
    file: "sqlite/task-store/reads",
    part: "from attempt where task_number",
    why: "A task has few attempts.",
  },
  { file: "sqlite/task-store/reads", part: "task_waited_for", why: LIVE_ONCE },
  { file: "sqlite/task-store/reads", part: "as underWay", why: LIVE_ONCE },
  { file: "sqlite/retention-store/remove", part: "task_under_way", why: UNDER_WAY },
  {
    file: "sqlite/retention-store/contents",
    part: "role = 'output'",
    why: "A task has few files.",
  },
  {
    file: "sqlite/retention-store/contents",
    part: "where sha256 = unhex(?)",
    why: "The tasks of one file, when an operator has all files verified.",
  },
  {
    file: "sqlite/retention-store/account",
    why: "An operator has an account purged, by a command of its own.",
  },
  {
    file: "sqlite/retention-store/expire",
    part: "asset",
    why: "A task has few files.",
  },
  {
    file: "sqlite/retention-store/expire",
    part: "delete from callback",
    why: "A callback has 105 sends at most.",
  },
  {
    file: "sqlite/retention-store/remove",
    why: "A task has few files and attempts, and a callback 105 sends at most.",
  },
  {
    file: "sqlite/retention-store/sum-up",
    part: "attempt",
    why: "A task has few attempts.",
  },
  {
    file: "sqlite/retention-store/sum-up",
    part: "delete from task",
    why: "A removed task has no files, and its attempts went before it.",
  },
  {
    file: "sqlite/retention-store/sum-up",
    part: "indexed by ledger_entry_once",
    why: "A task has few ledger entries.",
  },
  {
    file: "sqlite/retention-store/sum-up",
    part: "indexed by ledger_entry_sum",
    why: "A day has one sum of a kind.",
  },
  {
    file: "sqlite/retention-store/sum-up",
    part: "indexed by task_removed",
    why: "Passes over tasks that were removed in the same millisecond.",
  },
  {
    file: "sqlite/task-store/reads",
    part: "as processing",
    why: "Counts an account's live tasks in an index alone.",
  },
  { file: "sqlite/stock", why: "What is stored is counted in a thread and on a connection of its own." },
];
