import { STATUS_CLASSES } from "../../../domain/overview.ts";
import { closed, component, integer, list, nullable, type Schema, text } from "../../wire/schema.ts";
import { amount, CURRENCY_SCHEMA, unixSeconds } from "../../wire/values.ts";
import { contract } from "../contract.ts";

const number = (description: string, more?: Schema): Schema => ({
  type: "number",
  description,
  minimum: 0,
  ...more,
});
const count = (description: string) => integer(description, { minimum: 0 });
const bytes = (description: string) => count(`${description} Bytes.`);
const age = (description: string) => nullable(count(`${description} Seconds; null where there is none.`));
const bySecond = (what: string) =>
  list(count(""), {
    maxItems: 60,
    description: `${what} in each of the latest whole seconds since the start, oldest first.`,
  });

/** How tasks of the last hour ended. */
const ENDINGS = {
  completed: count("Tasks that were completed in the last hour."),
  failed: count("Tasks that failed in the last hour."),
  success_rate: nullable(number("Completed ones among both; null where none ended.", { maximum: 1 })),
};

const SERVER = closed({
  version: text("Version of the program."),
  node: text("Name of the machine."),
  started_at: unixSeconds("When this process started."),
  time: unixSeconds("The server's clock."),
  not_ready: nullable(text("Why no new tasks are taken, as `/readyz` says it; null while they are.")),
});

const LANE = closed({
  lane: text(
    "The account whose queue it is: its provider, and `/` and its name where that is not `default`.",
  ),
  queued: count("Tasks that wait."),
  oldest_seconds: age("How long ago the oldest of them was created."),
  under_way: count(
    "Tasks between submission and end. Those whose results could not be fetched yet do not count in the limit.",
  ),
  limit: nullable(count("How many may be under way; null: the account is switched off.")),
});

const MODEL = closed({
  model: text("Id of the model."),
  ...ENDINGS,
  p50_ms: nullable(
    count(
      "From create to end, of half of the completed ones. Milliseconds, within 5 %; null where none was.",
    ),
  ),
  p95_ms: nullable(count("The same of 95 in 100.")),
});

const CHECK = closed({
  check: text("Name of the check."),
  allowed: count("Requests that it let pass."),
  refused: count("Requests that it refused."),
  outages: count("Requests of which it could not tell."),
  p50_ms: nullable(number("How long half of its verdicts took. Milliseconds, within 5 %; null without any.")),
});

const OVERVIEW = component("Overview", {
  server: SERVER,
  windows: closed({
    seconds: count("Whole seconds since the start: the number of the latest one in `by_second`."),
    minute_since: unixSeconds("Since when requests and creates are counted: a minute, or the start."),
    hour_since: unixSeconds(
      "Since when ends of tasks and spend are counted: an hour, to the minute, or as far back as a start could read.",
    ),
  }),
  requests: closed({
    per_second: number("Requests answered in the last minute, whatever they asked for."),
    by_class: closed(
      Object.fromEntries(STATUS_CLASSES.map((each) => [each, number(`Of them, with a status ${each}.`)])),
    ),
    by_second: bySecond("Requests answered"),
  }),
  creates: closed({
    per_second: number("Tasks accepted in the last minute; repeated answers are not counted."),
    by_second: bySecond("Tasks accepted"),
  }),
  tasks: closed({
    queued: count("Tasks that wait, in all lanes."),
    under_way: count("Tasks between submission and end, in all lanes."),
    limit: count("How many may be under way in all lanes together."),
  }),
  lanes: list(LANE, { description: "By name: every account that is switched on, or has tasks." }),
  providers: list(
    closed({
      provider: text("The lane of the account."),
      ...ENDINGS,
      refused: list(text(""), {
        description:
          "Upstream models that it refuses this server, until the operator puts that right; `*`: every one.",
      }),
    }),
    { description: "By name." },
  ),
  models: list(MODEL, { description: "By id: every model of which a task ended in the last hour." }),
  checks: list(CHECK, { description: "By name: checks of content that were asked in the last hour." }),
  callbacks: closed({
    owed: count("Callbacks still to be sent, those under way and redeliveries included."),
    oldest_seconds: age("How long ago the oldest of them was created."),
  }),
  spend: closed({ hour: amount("Charged for the tasks of the last hour."), currency: CURRENCY_SCHEMA }),
  memory: closed({
    rss_bytes: bytes("What the process holds in memory."),
    heap_bytes: bytes("What its JavaScript objects take of it."),
  }),
  loop: closed({
    lag_p50_ms: number(
      "How late the event loop came to its timers in the last ten seconds: the median. Milliseconds.",
    ),
    lag_max_ms: number("The same: the latest."),
  }),
  disk: closed({
    free_bytes: bytes("What the disk of the data folder has left."),
    data_bytes: bytes("Size of the database, without stored files."),
    wal_bytes: bytes("Size of its write-ahead log."),
  }),
  open: closed({
    waits: count("Calls that wait for their answer."),
    streams: count("Event streams."),
  }),
});

export const READ_OVERVIEW = contract("readOverview", "How the service does at present", OVERVIEW, {
  description:
    "Counts of this process, and what waits in its store. At most a second old: whoever asks within a second gets the same.",
});
