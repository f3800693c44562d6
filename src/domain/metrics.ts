/** What a metric is, for those who read it. */
export interface MetricForm {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** The labels of its samples, besides `le` of a histogram. */
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly bounds?: readonly number[];
}

/** One number of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Which of a histogram's series the sample belongs to. */
  readonly part?: "bucket" | "sum" | "count";
}

const counter = (help: string, ...labels: string[]) => ({ type: "counter", help, labels }) as const;
const gauge = (help: string, ...labels: string[]) => ({ type: "gauge", help, labels }) as const;
const histogram = (help: string, bounds: readonly number[], ...labels: string[]) =>
  ({ type: "histogram", help, bounds, labels }) as const;

/** In seconds: from a request that only reads memory to one that waits for a video. */
const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const TASK_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];
const LAG_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Every metric of the service. Durations are in seconds, sizes in bytes, money in US dollars. */
export const METRICS = {
  svc_build_info: gauge("Always 1; its labels say what runs.", "version", "bun"),
  svc_ready: gauge("1 while new tasks are taken, 0 while they are not."),
  svc_http_requests_total: counter("Requests answered.", "method", "route", "status"),
  svc_http_request_duration_seconds: histogram("Until the answer began.", REQUEST_BOUNDS, "method", "route"),
  svc_open_connections: gauge("Connections that stay open: calls that wait, and event streams.", "kind"),
  svc_tasks_created_total: counter("Tasks accepted.", "model"),
  svc_tasks_ended_total: counter("Tasks completed, failed or cancelled.", "model", "status"),
  svc_task_duration_seconds: histogram("From create to end, of completed tasks.", TASK_BOUNDS, "model"),
  svc_task_stage_duration_seconds: histogram("How long tasks were in a stage.", TASK_BOUNDS, "lane", "stage"),
  svc_tasks: gauge("Live tasks.", "model", "status"),
  svc_lane_queued_tasks: gauge("Tasks that wait in a lane.", "lane"),
  svc_lane_oldest_queued_seconds: gauge("How long the oldest of them has waited; 0 without any.", "lane"),
  svc_lane_underway_tasks: gauge(
    "Tasks of a lane between submission and end. Those that wait for their results are among them and hold no place, so there may be more than the limit.",
    "lane",
  ),
  svc_lane_limit_tasks: gauge("How many may be; absent for an account that is switched off.", "lane"),
  svc_attempts_ended_total: counter("What became of attempts.", "lane", "upstream_model", "outcome"),
  svc_route_trouble: gauge(
    "1 for a route that gets no tasks, or one to try it, of providers that are switched on; not while others than those whose tasks met it are served.",
    "lane",
    "upstream_model",
    "kind",
  ),
  svc_upstream_cost_usd_total: counter("What attempts cost the operator, as far as it is known.", "lane"),
  svc_charged_usd_total: counter("What callers were charged.", "model"),
  svc_held_usd: gauge("Held for live tasks, in all accounts."),
  svc_callbacks_owed: gauge("Callbacks still to be sent, redeliveries included."),
  svc_callbacks_oldest_seconds: gauge("How long ago the oldest of them was created; 0 without any."),
  svc_callback_sends_total: counter("Sends of callbacks.", "outcome"),
  svc_callbacks_ended_total: counter("Callbacks acknowledged, or given up after their last send.", "state"),
  svc_moderation_verdicts_total: counter("Verdicts of the operator's checks.", "check", "verdict"),
  svc_assets: gauge("Files that are on record, of tasks and uploaded before any (`upload`).", "role"),
  svc_asset_bytes: gauge("Their sizes together; a file that several tasks share counts for each.", "role"),
  svc_books_age_seconds: gauge("How long ago the numbers that are counted in the database were read."),
  svc_requests_shed_total: counter("Requests refused because there was too much to do.", "kind"),
  svc_spans_total: counter("Parts of traces sent to a collector, or given up.", "outcome"),
  svc_event_loop_lag_seconds: histogram("How late the event loop came to a timer.", LAG_BOUNDS),
  svc_database_bytes: gauge("Size of the database, without stored files."),
  svc_wal_bytes: gauge("Size of its write-ahead log."),
  svc_database_replica_lag_seconds: gauge(
    "How far the replica is behind at most; absent without database_replica, and while it is not known.",
  ),
  svc_database_replica_used: gauge(
    "1 while the replica answers lists and reports, 0 while the database does; absent without database_replica.",
  ),
  svc_backup_age_seconds: gauge(
    "Since the newest backup was begun; absent without backup.every, and before the first.",
  ),
  svc_backup_failing: gauge("1 while no backup can be made, 0 while they can; absent without backup.every."),
  svc_disk_free_bytes: gauge("What the disk of the data folder has left for this user."),
  svc_heap_bytes: gauge("What JavaScript objects take of the memory."),
  process_resident_memory_bytes: gauge("What the process holds in memory."),
  process_cpu_seconds_total: counter("Processor time of the process, all threads and system calls included."),
  process_start_time_seconds: gauge("When the process started, in Unix seconds."),
  process_open_fds: gauge("Open files and connections; absent where the system does not say."),
  process_max_fds: gauge("How many may be open; absent where the system does not say."),
} as const satisfies Readonly<Record<string, MetricForm>>;

export type MetricName = keyof typeof METRICS;

/** The samples of each metric at one moment. */
export type Figures = Readonly<Record<MetricName, readonly Sample[]>>;

/** The metrics that are counted as events pass. */
export type CountedName =
  | "svc_http_requests_total"
  | "svc_http_request_duration_seconds"
  | "svc_tasks_created_total"
  | "svc_tasks_ended_total"
  | "svc_task_duration_seconds"
  | "svc_task_stage_duration_seconds"
  | "svc_attempts_ended_total"
  | "svc_upstream_cost_usd_total"
  | "svc_charged_usd_total"
  | "svc_callback_sends_total"
  | "svc_callbacks_ended_total"
  | "svc_moderation_verdicts_total"
  | "svc_requests_shed_total"
  | "svc_spans_total"
  | "svc_event_loop_lag_seconds";

/** Replaces a value that is not known, or that exceeds the number of values a label may have. */
export const OTHER = "other";
