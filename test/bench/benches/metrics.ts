import { createCounting } from "../../../src/app/counting.ts";
import type { ModelId } from "../../../src/domain/ids.ts";
import type { Tally } from "../../../src/domain/ports/tally.ts";
import { createSystemClock } from "../../../src/runtime/clock.ts";
import { createMeter } from "../../../src/runtime/meter.ts";
import { threadCpuMs } from "../../../src/runtime/thread-time.ts";
import { measurement } from "../run/report.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench } from "./bench.ts";

const CREATES = 500_000;
/** A hundredth of the processor time that a create may take. */
const HUNDREDTH_US = 0.62;
const MODELS = ["sandbox-image", "sandbox-video", "sandbox-edit"] as ModelId[];

/** What counting takes of a create: for `/metrics`, and for everything that is counted. */
export const metrics: Bench = async ({ rounds, scaled }) => {
  const count = scaled(CREATES);
  const timed = (tally: Pick<Tally, "answered" | "created">) => async () => {
    const before = threadCpuMs();
    for (let i = 0; i < count; i++) {
      tally.created(MODELS[i % MODELS.length] as ModelId);
      tally.answered(200, { route: "/v1/images/generations", method: "POST", durationMs: (i % 90) / 100 });
    }
    return ((threadCpuMs() - before) / count) * 1000;
  };
  const scraped = timed(createMeter().tally);
  const all = timed(createCounting({ clock: createSystemClock() }).tally);
  for (const warm of [scraped, all]) await warm();
  const values = await interleave(rounds, { scraped, all });
  return [
    measurement({
      name: "counting a create for /metrics",
      unit: "µs",
      values: values.scraped,
      target: { kind: "most", value: HUNDREDTH_US },
      note: "a hundredth of a create's processor time",
    }),
    measurement({ name: "counting a create for all that is shown", unit: "µs", values: values.all }),
  ];
};
