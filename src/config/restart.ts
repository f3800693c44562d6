import type { Setting } from "../toolkit/settings/setting.ts";

/** Why a value is read only at a start. */
const WHY = {
  listens: "the address is listened on until the server stops",
  opened: "what lies there is open until the server stops",
  bucket: "tasks under way have files there",
  executable: "the executable reads it before anything else",
  began: "callers and providers were told addresses by it",
  asked: "requests under way were given this time",
  connections: "connections are open by it",
  lines: "the log's lines are written in one form",
  steps: "steps under way hold their tasks for this time",
  hosts: "how many a host gets is learned from there on",
  stored: "what is stored was made by it",
  schedule: "the backups of a schedule are made by one thread in one place",
  spans: "spans are on their way to the collector",
  recordings: "a recording is of a server from its start on",
  threads: "the threads are started with the server",
  endpoints: "the endpoints are made at the start",
  nodes: "other nodes know this one by it",
  words: "the words of prompts are kept from then on",
  provider: "this provider is opened once",
} as const;

/**
 * Why another value of a setting needs a restart, by its key or the section it is in. Every setting is either here or comes into force
 * while the server runs.
 */
const RESTART: Readonly<Record<string, keyof typeof WHY>> = {
  ...{
    database: "opened",
    database_connections: "opened",
    database_driver: "opened",
    database_replica: "opened",
    role: "nodes",
    node_name: "nodes",
  },
  ...{ data_dir: "opened", host: "listens", port: "listens", long_port: "listens", public_url: "began" },
  ...{ hooks: "began", proxy: "connections", allow_env: "executable", "edge.timeout_seconds": "asked" },
  ...{ "log.format": "lines", "log.kept_mb": "opened", metrics: "listens" },
  ...{ "scheduler.lease_seconds": "steps", "scheduler.drain_seconds": "steps" },
  ...{ "callbacks.host_concurrency": "hosts", outputs: "stored", assets: "bucket", backup: "schedule" },
  ...{
    console: "endpoints",
    facades: "endpoints",
    "search.prompts": "words",
    tracing: "spans",
    record: "recordings",
    replay: "recordings",
  },
};

/** The keys and sections that need a restart. */
export const RESTART_KEYS: readonly string[] = Object.keys(RESTART);

/** Why a key in a variable needs a restart. */
export const VARIABLE_STAYS = "a running process keeps its variables";

type Changing = Pick<Setting<unknown>, "key" | "live">;

/**
 * Why another value of a setting needs a restart; undefined for one that comes into force while the server runs.
 *
 * @param all every setting: a provider is opened anew for any of its own where it is for one
 */
export function restartReason({ key, live }: Changing, all: readonly Changing[]): string | undefined {
  const [section = "", id] = key.split(".");
  const ofProvider =
    section === "providers" && all.some((each) => each.live && each.key.startsWith(`providers.${id}.`));
  if (live === true || ofProvider) return undefined;
  return WHY[RESTART[key] ?? RESTART[section] ?? "provider"];
}
