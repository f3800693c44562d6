import type { JsonObject } from "../../../../src/domain/json.ts";

export const STARTED_AT = 1_700_000_000;

/** An overview as a server answers it: two minutes after its start, with `count` models, unless said otherwise. */
export function overview({
  count = 3,
  seconds = 120,
  ...given
}: JsonObject & { count?: number; seconds?: number } = {}): JsonObject {
  return {
    server: {
      version: "1.2.3",
      node: "box",
      started_at: STARTED_AT,
      time: STARTED_AT + seconds,
      not_ready: null,
    },
    windows: { seconds, minute_since: STARTED_AT, hour_since: STARTED_AT },
    requests: {
      per_second: 12.5,
      by_class: { "2xx": 12, "3xx": 0, "4xx": 0.5, "5xx": 0 },
      by_second: Array.from({ length: 60 }, (_, i) => (seconds - 60 + i) % 8),
    },
    creates: { per_second: 1.25, by_second: Array.from({ length: 60 }, () => 0) },
    tasks: { queued: 12, under_way: 3, limit: 512 },
    lanes: [
      { lane: "fal", queued: 12, oldest_seconds: 242, under_way: 3, limit: 3 },
      { lane: "sandbox", queued: 0, oldest_seconds: null, under_way: 0, limit: null },
    ],
    providers: [
      { provider: "fal", completed: 9, failed: 1, success_rate: 0.9, refused: ["fal-ai/veo3"] },
      { provider: "sandbox", completed: 0, failed: 0, success_rate: null, refused: [] },
    ],
    models: Array.from({ length: count }, (_, i) => ({
      model: `model-${String(i + 1).padStart(2, "0")}`,
      ...{ completed: i, failed: i % 3, success_rate: i === 0 ? null : 0.5 },
      ...{ p50_ms: i === 0 ? null : i * 1_000, p95_ms: i === 0 ? null : i * 61_000 },
    })),
    checks: [
      { check: "slurs", allowed: 40, refused: 2, outages: 0, p50_ms: 0.025 },
      { check: "vendor", allowed: 38, refused: 1, outages: 1, p50_ms: 212 },
    ],
    callbacks: { owed: 4, oldest_seconds: 7_300 },
    spend: { hour: "1.250000", currency: "USD" },
    memory: { rss_bytes: 74_000_000, heap_bytes: 2_000_000 },
    loop: { lag_p50_ms: 0.4, lag_max_ms: 12.3 },
    disk: { free_bytes: 41_000_000_000, data_bytes: 12_300_000, wal_bytes: 4_000 },
    open: { waits: 2, streams: 1 },
    ...given,
  };
}
