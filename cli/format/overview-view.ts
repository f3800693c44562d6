import type { CheckRow, LaneRow, ModelRow, ProviderRow, Reading } from "../client/overview.ts";
import { printable } from "./printable.ts";
import type { Field } from "./table.ts";
import { formatSize } from "./units.ts";

/** One line of `name=value`, tab-separated, for logs and scripts. Names are stable. */
export function overviewLine(reading: Reading): string {
  return `${factsOf(reading)
    .map(([name, value]) => `${name}=${value}`)
    .join("\t")}\n`;
}

function factsOf(reading: Reading): [name: string, value: string | number][] {
  const { requests, creates, models, lanes } = reading;
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return [
    ["time", reading.time],
    ["requests_per_second", requests.perSecond],
    ["errors_4xx_per_second", requests.clientErrors],
    ["errors_5xx_per_second", requests.serverErrors],
    ["creates_per_second", creates.perSecond],
    ["queued", reading.queued],
    ["oldest_seconds", Math.max(0, ...lanes.map(({ oldestSec }) => oldestSec ?? 0))],
    ["under_way", reading.underWay],
    ["completed_hour", sum(models.map(({ completed }) => completed))],
    ["failed_hour", sum(models.map(({ failed }) => failed))],
    ["spend_hour", printable(reading.spend)],
    ["callbacks_owed", reading.owed],
    ["rss_bytes", reading.rssBytes],
    ["lag_p50_ms", reading.lagP50Ms],
    ["lag_max_ms", reading.lagMaxMs],
    ["free_bytes", reading.freeBytes],
    ["waits", reading.waits],
    ["streams", reading.streams],
    ["content_refused_hour", sum(reading.checks.map(({ refused }) => refused))],
    ["content_outages_hour", sum(reading.checks.map(({ outages }) => outages))],
  ];
}

/** The figures of the whole service, for people. */
export function overviewFields(reading: Reading): Field[] {
  const { requests, creates, queued, owed } = reading;
  const oldest = Math.max(0, ...reading.lanes.map(({ oldestSec }) => oldestSec ?? 0));
  return [
    ["server", `${reading.node}, svc ${reading.version}, up ${formatAge(reading.time - reading.startedAt)}`],
    ["takes no tasks", reading.notReady],
    ["requests", `${requests.perSecond}/s (4xx ${requests.clientErrors}, 5xx ${requests.serverErrors})`],
    ["creates", `${creates.perSecond}/s`],
    ["queued", queued === 0 ? "0" : `${queued}, the oldest for ${formatAge(oldest)}`],
    ["under way", `${reading.underWay} of ${reading.limit}`],
    ["callbacks owed", owed === 0 ? "0" : `${owed}, the oldest for ${formatAge(reading.owedOldestSec ?? 0)}`],
    ["spend, last hour", `${reading.spend} ${reading.currency}`],
    ["memory", formatSize(reading.rssBytes)],
    ["event loop", `${reading.lagP50Ms} ms late, at most ${reading.lagMaxMs} ms`],
    ["disk", `${formatSize(reading.freeBytes)} free`],
    ["database", `${formatSize(reading.dataBytes)}, log ${formatSize(reading.walBytes)}`],
    ["open", `${reading.waits} waits, ${reading.streams} streams`],
  ];
}

/** The cells of a table's row, by the names of its columns. */
export const MODEL_CELLS = {
  MODEL: ({ model }: ModelRow) => model,
  DONE: ({ completed }: ModelRow) => String(completed),
  FAILED: ({ failed }: ModelRow) => String(failed),
  OK: ({ successRate }: ModelRow) => formatShare(successRate),
  P50: ({ p50Ms }: ModelRow) => formatMs(p50Ms),
  P95: ({ p95Ms }: ModelRow) => formatMs(p95Ms),
} as const;
export const LANE_CELLS = {
  LANE: ({ lane }: LaneRow) => lane,
  QUEUED: ({ queued }: LaneRow) => String(queued),
  OLDEST: ({ oldestSec }: LaneRow) => (oldestSec === undefined ? "-" : formatAge(oldestSec)),
  "UNDER WAY": ({ underWay }: LaneRow) => String(underWay),
  LIMIT: ({ limit }: LaneRow) => (limit === undefined ? "off" : String(limit)),
} as const;
export const PROVIDER_CELLS = {
  PROVIDER: ({ provider }: ProviderRow) => provider,
  DONE: ({ completed }: ProviderRow) => String(completed),
  FAILED: ({ failed }: ProviderRow) => String(failed),
  OK: ({ successRate }: ProviderRow) => formatShare(successRate),
  REFUSED: ({ refused }: ProviderRow) => (refused.length === 0 ? "-" : refused.join(", ")),
} as const;

/** `98.2%`; rounded down, so that only what is whole is 100%. */
function formatShare(share: number | undefined): string {
  if (share === undefined) return "-";
  return `${Math.floor(share * 1_000) / 10}%`;
}

export const CHECK_CELLS = {
  CHECK: ({ check }: CheckRow) => check,
  ALLOWED: ({ allowed }: CheckRow) => String(allowed),
  REFUSED: ({ refused }: CheckRow) => String(refused),
  OUTAGES: ({ outages }: CheckRow) => String(outages),
  P50: ({ p50Ms }: CheckRow) =>
    p50Ms === undefined || p50Ms >= 1 ? formatMs(p50Ms) : `${Math.round(p50Ms * 1_000)}µs`,
} as const;

/** In at most five cells: `340ms`, `12.3s`, `3m20s`, `1h05m`. */
export function formatMs(ms: number | undefined): string {
  if (ms === undefined) return "-";
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  const seconds = Math.floor(ms / 1_000);
  const pad = (value: number) => String(value).padStart(2, "0");
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`;
  return `${Math.floor(seconds / 3_600)}h${pad(Math.floor(seconds / 60) % 60)}m`;
}

/** `4s`, `3m`, `2h`, `5d`. */
export function formatAge(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)}m`;
  return whole < 86_400 ? `${Math.floor(whole / 3_600)}h` : `${Math.floor(whole / 86_400)}d`;
}
