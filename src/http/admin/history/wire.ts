import { MINUTE_FIGURES, type MinuteFigure } from "../../../domain/history.ts";
import { STATUS_CLASSES } from "../../../domain/overview.ts";
import {
  closed,
  component,
  integer,
  list,
  nullable,
  optional,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { unixSeconds } from "../../wire/values.ts";
import { contract } from "../contract.ts";

/** The minutes of a day, which is the longest history. */
const MOST_MINUTES = 1_440;
export const DEFAULT_MINUTES = 60;

export const HISTORY_QUERY = optional({
  minutes: integer("How many of the latest whole minutes are told.", {
    minimum: 1,
    maximum: MOST_MINUTES,
    default: DEFAULT_MINUTES,
  }),
});

const count = (description: string) => integer(description, { minimum: 0 });

const FIGURES: Readonly<Record<MinuteFigure, string>> = {
  ...(Object.fromEntries(
    STATUS_CLASSES.map((each) => [`answered_${each}`, `Requests answered with a status ${each}.`]),
  ) as Record<`answered_${(typeof STATUS_CLASSES)[number]}`, string>),
  created: "Tasks accepted.",
  completed: "Tasks that were completed.",
  failed: "Tasks that failed.",
  queued: "Tasks that waited at its end, in all lanes.",
  under_way: "Tasks between submission and end at its end.",
  callbacks_owed: "Callbacks still to be sent at its end.",
  lag_p95_ms: "How late the event loop came to 95 in 100 of its timers. Milliseconds, within 5 %.",
  lag_max_ms: "The latest it came to one. Milliseconds.",
  rss_bytes: "Memory of the process at its end.",
  disk_free_bytes: "What the disk of the data folder had left at its end.",
  data_bytes: "Size of the database, without stored files.",
  wal_bytes: "Size of its write-ahead log.",
};

const figure = (name: MinuteFigure): Schema =>
  list({ type: "number", minimum: 0 }, { maxItems: MOST_MINUTES, description: FIGURES[name] });

const times = (when: string) =>
  closed({
    count: count(`Tasks that left it in the last ${when}.`),
    p50_ms: nullable(count("How long half of them were in it. Milliseconds, within 5 %; null without any.")),
    p95_ms: nullable(count("The same of 95 in 100.")),
  });

const ends = (when: string) =>
  closed({
    completed: count(`Attempts that were completed in the last ${when}.`),
    failed: count("Those that failed, were not taken, or got no answer."),
    error_rate: nullable({
      type: "number",
      description: "The share of the failed ones among both; null without any.",
      minimum: 0,
      maximum: 1,
    }),
  });

export const READ_HISTORY = contract(
  "readHistory",
  "How the service has done for the last day",
  component("History", {
    since: unixSeconds("When this process started, which all of it counts from."),
    at: list(unixSeconds("The end of a minute."), {
      maxItems: MOST_MINUTES,
      description: "Whole minutes, oldest first. Each list of `minutes` has a number for each.",
    }),
    minutes: closed(Object.fromEntries(MINUTE_FIGURES.map((name) => [name, figure(name)]))),
    stages: list(
      closed({
        stage: text("What the service did with a task.", {
          enum: ["queued", "submitting", "running", "finalizing"],
        }),
        hour: times("hour"),
        day: times("day"),
      }),
      { description: "In the order in which a task is in them." },
    ),
    routes: list(
      closed({
        provider: text("The lane of the account; `other` for those beyond 200 routes."),
        upstream_model: text("What the provider calls the model."),
        hour: ends("hour"),
        day: ends("day"),
      }),
    ),
  }),
  {
    description:
      "Counts of this process, in memory: a restart begins anew. The last hour is to the minute, the last day to the hour. For longer, and for more than one process, scrape `/metrics`.",
    query: HISTORY_QUERY,
  },
);
