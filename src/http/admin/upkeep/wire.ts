import { jsonBody } from "../../openapi/contract.ts";
import {
  closed,
  flag,
  integer,
  list,
  nullable,
  openEnum,
  optional,
  requiring,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { idOf, unixSeconds } from "../../wire/values.ts";
import { byIdOrName, contract } from "../contract.ts";

const count = (description: string) => integer(description, { minimum: 0 });
const bytes = (description: string) => integer(description, { minimum: 0 });
const sha256 = text("SHA-256 of the content.", { pattern: "^[0-9a-f]{64}$" });

/** A job whose result has this schema. */
const job = (result: Schema) =>
  closed({
    status: openEnum(
      ["idle", "running", "done", "failed"],
      "`idle`: not begun since the start of the server.",
    ),
    started_at: nullable(unixSeconds("When it was begun.")),
    ended_at: nullable(unixSeconds("When it ended.")),
    files_so_far: nullable(count("Files that were looked at, where the job says so.")),
    result: nullable(result),
    error: nullable(text("Why it failed.")),
  });

const VERIFIED = job(
  closed({
    files: count("Files that were read."),
    size_bytes: bytes("Their sizes together."),
    damaged: list(
      closed({
        sha256,
        what: openEnum(["missing", "changed"], "What is wrong with it."),
        tasks: list(idOf("task", "A task that has it.")),
        uploads: list(idOf("file", "An uploaded file that has it.")),
      }),
    ),
  }),
);

const COLLECTED = job(
  closed({
    dry_run: flag("Whether nothing was removed."),
    files: count("Files that went, or would."),
    size_bytes: bytes("Their sizes together."),
    young: count("Files that no task has and that are less than an hour old, which stay."),
    contents: list(closed({ sha256, size_bytes: bytes("Its size.") }), {
      description: "The first thousand of them.",
    }),
  }),
);

const MADE = closed({
  path: text("Where it is."),
  files: count("Files in it."),
  bytes: bytes("Their sizes together."),
  copied_bytes: bytes("Of them, what was not in an earlier backup."),
  missing: count("Files that the database names and that were not there."),
});

const BACKUPS = closed({
  to: nullable(text("Where they go; null where the settings name no place.")),
  scheduled: flag("Whether the server makes them by itself."),
  newest_at: nullable(unixSeconds("When the newest by schedule was begun, as far as it is known.")),
  failing: nullable(closed({ since: unixSeconds("Since when none could be made."), reason: text("Why.") })),
  backups: list(text("Its name, which is its time."), {
    description: "Those that are whole, newest first; at most a thousand.",
  }),
  problem: nullable(text("Why they could not be listed.")),
  job: job(MADE),
});

const ASSET = closed({
  id: idOf("asset", "Id of the file."),
  task_id: idOf("task", "The task that has it."),
  account_id: idOf("acc", "Its account."),
  role: openEnum(["input", "output"], "Whether it went in or came out."),
  index: count("Its place among those of its task and role."),
  sha256,
  size_bytes: bytes("Its size."),
  media_type: text("Its media type."),
  created_at: unixSeconds("When it was stored."),
  path: text("Its address, below the service's own."),
});

export const ASSET_QUERY: Schema = {
  type: "object",
  properties: {
    limit: integer("Most files of an answer.", { minimum: 1, maximum: 100, default: 20 }),
    after: text("`next` of the page before.", { pattern: "^\\d{1,15}$" }),
  },
};

const FAULT = closed({
  kind: openEnum(["unreadable", "integrity", "reference", "schema"], "What is wrong."),
  message: text("What SQLite says."),
});

const DATABASE = closed({
  ok: flag("Whether nothing is wrong."),
  faults: list(FAULT),
  schema: closed({
    current: nullable(count("The latest migration that was applied.")),
    latest: count("The latest one that this version knows."),
    pending: list(text("A migration that is not applied.")),
  }),
  database_bytes: bytes("Size of the database's file."),
  wal_bytes: bytes("Size of its write-ahead log."),
  page_bytes: nullable(bytes("Size of a page.")),
  pages: nullable(count("Pages in the file.")),
  free_pages: nullable(count("Those that hold nothing.")),
  free_bytes: nullable(bytes("Their sizes together.")),
});

export const COLLECT_REQUEST = optional({ dry_run: flag("Removes nothing, and tells what would go.") });
export const PURGE_REQUEST = requiring(["confirm"], {
  confirm: text("The account's id once more: what is removed is gone for ever."),
});

const PURGED = closed({
  account_id: idOf("acc", "Id of the account."),
  status: openEnum(
    ["purged", "more", "live"],
    "`more`: there is more than one request removes; send it again. `live`: tasks are under way and were asked to stop; send it again once they have ended.",
  ),
  tasks: count("Tasks that went; of `live`, those that are under way."),
  files: count("Files that went."),
  files_left: count("Files that are in use still, and go by themselves."),
  remains: nullable(
    closed({
      tasks: count("Tasks that are left."),
      files: count("Files of them."),
      callbacks: count("Callbacks of them."),
      keys: count("Keys that still have a name or a secret."),
    }),
  ),
  verified: flag("Whether nothing is left but money."),
});

const BEGUN =
  "Answers how it goes; one that is under way is not begun again. A restart of the server forgets it.";

export const UPKEEP = {
  assets: contract(
    "listStoredFiles",
    "List the stored files of all tasks, newest first",
    closed({ assets: list(ASSET), next: nullable(text("The next page's `after`; null on the last one.")) }),
    { query: ASSET_QUERY, errors: ["invalid_request"] },
  ),
  verify: contract("verifyFiles", "Compare every stored file with its hash", VERIFIED, {
    description: BEGUN,
  }),
  readVerify: contract("readVerification", "How the comparison of the stored files goes", VERIFIED),
  collect: contract("collectFiles", "Remove stored files that no task has", COLLECTED, {
    description: BEGUN,
    body: jsonBody(COLLECT_REQUEST),
    errors: ["invalid_request"],
  }),
  readCollect: contract("readCollection", "How the removal of files that no task has goes", COLLECTED),
  backups: contract("listBackups", "The backups of the data folder, and how they go", BACKUPS),
  backUp: contract("createBackup", "Back the data folder up now, to the place of the settings", job(MADE), {
    description: BEGUN,
  }),
  database: contract("checkDatabase", "Read the whole database, and say whether it is sound", DATABASE, {
    description: "In a thread, so that requests go on meanwhile. It takes as long as reading the file does.",
  }),
  purge: contract("purgeAccount", "Remove everything of an account but its money, for ever", PURGED, {
    description:
      "Suspends the account and cancels what is under way. Ledger, usage and trail stay, with the account's id.",
    ...byIdOrName("account"),
    body: jsonBody(PURGE_REQUEST),
  }),
};
