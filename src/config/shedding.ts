import * as parse from "../toolkit/settings/parsers.ts";
import { setting } from "../toolkit/settings/setting.ts";

const DAY_SEC = 86_400;

/** From when on requests are refused because there is too much to do. */
export function sheddingSettings() {
  return {
    shed: {
      queueMs: setting<number | undefined>({
        key: "shed.queue_seconds",
        live: true,
        flag: "--shed-queue-seconds <seconds>",
        help: "creates are refused whose caller's tasks wait this long for their start, or would",
        parse: parse.secondsAsMs(0.1, 30 * DAY_SEC),
        fallback: undefined,
        fallbackText: "the model's deadline",
      }),
      lagMs: setting<number>({
        key: "shed.lag_ms",
        live: true,
        flag: "--shed-lag-ms <milliseconds>",
        help: "requests are refused, creates first, while the server comes so late to what it has to do for a second and more",
        parse: parse.integer(1, 600_000),
        fallback: 100,
      }),
      memoryMb: setting<number | undefined>({
        key: "shed.memory_mb",
        live: true,
        flag: "--shed-memory-mb <megabytes>",
        help: "creates are refused while the server has more memory than this; lists too above 110 % of it, reads of tasks too above 120 %",
        parse: parse.integer(16, 1_000_000_000),
        fallback: undefined,
        fallbackText: "80 % of the machine's or container's",
      }),
    },
  };
}
