import { expect, test } from "bun:test";
import { type Figures, METRICS, type MetricName, type Sample } from "../../src/domain/metrics.ts";
import { presentMetrics } from "../../src/http/metrics/present.ts";

/** Every metric without a sample, but for those given. */
function figures(given: Partial<Record<MetricName, readonly Sample[]>>): Figures {
  const none = Object.fromEntries(Object.keys(METRICS).map((name) => [name, []]));
  // Safe: every name of the table is there.
  return { ...none, ...given } as unknown as Figures;
}

test("values of labels are escaped, so that none ends its line or its label", () => {
  const text = presentMetrics(
    figures({ svc_tasks_created_total: [{ labels: { model: 'a "b"\\\n} 7' }, value: 2 }] }),
  );
  expect(text.split("\n").filter((line) => line.includes("b"))).toContain(
    'svc_tasks_created_total{model="a \\"b\\"\\\\\\n} 7"} 2',
  );
});

test("a metric without a sample is named with its help and type", () => {
  const lines = presentMetrics(figures({})).split("\n");
  expect(lines.filter((line) => line.includes("svc_ready"))).toEqual([
    `# HELP svc_ready ${METRICS.svc_ready.help}`,
    "# TYPE svc_ready gauge",
  ]);
  expect(lines).toHaveLength(Object.keys(METRICS).length * 2 + 1);
});

test("histograms have their parts as suffixes", () => {
  const text = presentMetrics(
    figures({
      svc_event_loop_lag_seconds: [
        { part: "bucket", labels: { le: "+Inf" }, value: 3 },
        { part: "sum", labels: {}, value: 0.25 },
        { part: "count", labels: {}, value: 3 },
      ],
    }),
  );
  expect(text).toContain(
    'svc_event_loop_lag_seconds_bucket{le="+Inf"} 3\nsvc_event_loop_lag_seconds_sum 0.25\nsvc_event_loop_lag_seconds_count 3\n',
  );
});
