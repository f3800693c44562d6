import { describe, expect, test } from "bun:test";
import type { LaneId, ModelId } from "../../src/domain/ids.ts";
import type { Sample } from "../../src/domain/metrics.ts";
import { Histogram } from "../../src/runtime/histogram.ts";
import { createMeter } from "../../src/runtime/meter.ts";
import { micros } from "../helpers/store.ts";

const model = (name: string) => name as ModelId;
const lane = (name: string) => name as LaneId;
const values = (samples: readonly Sample[]) =>
  samples.map(({ labels, value }) => [...Object.values(labels), value]);
const part = (samples: readonly Sample[], name: Sample["part"]) =>
  samples.filter((each) => each.part === name);

describe("a histogram", () => {
  test("counts a value in its bucket and in all above, and a bound belongs to the bucket it ends", () => {
    const times = new Histogram([0.1, 1]);
    for (const value of [0.1, 0.5, 2, 3]) times.add(value);
    expect(times.samples({ model: "fox" })).toEqual([
      { part: "bucket", labels: { model: "fox", le: "0.1" }, value: 1 },
      { part: "bucket", labels: { model: "fox", le: "1" }, value: 2 },
      { part: "bucket", labels: { model: "fox", le: "+Inf" }, value: 4 },
      { part: "sum", labels: { model: "fox" }, value: 5.6 },
      { part: "count", labels: { model: "fox" }, value: 4 },
    ]);
  });
});

describe("the meter", () => {
  test("counts requests by method, route and status, and names neither a path nor a method that there is not", () => {
    const { tally, read } = createMeter();
    const request = { route: "/v1/tasks/:id", method: "GET", durationMs: 2 };
    for (const status of [200, 200, 404]) tally.answered(status, request);
    tally.answered(200, { ...request, method: "HEAD" });
    tally.answered(404, { ...request, route: "*" });
    tally.answered(405, { ...request, method: "BREW" });
    const { svc_http_requests_total: requests, svc_http_request_duration_seconds: times } = read();
    expect(values(requests)).toEqual([
      ["GET", "/v1/tasks/:id", "200", 2],
      ["GET", "/v1/tasks/:id", "404", 1],
      ["HEAD", "/v1/tasks/:id", "200", 1],
      ["other", "/v1/tasks/:id", "405", 1],
      ["GET", "other", "404", 1],
    ]);
    expect(values(part(times, "count"))[0]).toEqual(["GET", "/v1/tasks/:id", 3]);
  });

  test("counts tasks by their ends, and what was charged for them", () => {
    const { tally, read } = createMeter();
    const ended = { model: model("fox"), provider: lane("fal"), durationMs: 300, charged: micros(10_000) };
    tally.created(model("fox"));
    tally.ended({ ...ended, status: "completed" });
    tally.ended({ ...ended, status: "completed", charged: micros(5) });
    tally.ended({ ...ended, status: "failed", charged: micros(0) });
    tally.cancelled(model("owl"));
    const figures = read();
    expect(values(figures.svc_tasks_created_total)).toEqual([["fox", 1]]);
    expect(values(figures.svc_tasks_ended_total)).toEqual([
      ["fox", "completed", 2],
      ["fox", "failed", 1],
      ["owl", "cancelled", 1],
    ]);
    expect(values(figures.svc_charged_usd_total)).toEqual([["fox", 0.010005]]);
    expect(values(part(figures.svc_task_duration_seconds, "count"))).toEqual([["fox", 2]]);
  });

  test("has no more than two hundred names for a label, and counts the others together", () => {
    const { tally, read } = createMeter();
    for (let i = 0; i < 1_000; i++) tally.created(model(`model-${i}`));
    for (let i = 0; i < 1_000; i++)
      tally.attemptEnded({
        ...{ lane: lane(`lane-${i}`), upstreamModel: `m-${i}` },
        ...{ outcome: "completed", cost: micros(2) },
      });
    const { svc_tasks_created_total: created, svc_attempts_ended_total: attempts, ...rest } = read();
    expect(created).toHaveLength(201);
    expect(values(created).at(-1)).toEqual(["other", 800]);
    expect(values(attempts).at(-1)).toEqual(["other", "other", "completed", 800]);
    expect(values(rest.svc_upstream_cost_usd_total).at(-1)).toEqual(["other", 0.0016]);
  });

  test("shows what may become of callbacks before any was sent", () => {
    const { tally, read } = createMeter();
    expect(values(read().svc_callbacks_ended_total)).toEqual([
      ["delivered", 0],
      ["failed", 0],
    ]);
    tally.callbackSent("refused", false);
    tally.callbackSent("unreachable", true);
    tally.callbackSent("delivered", true);
    expect(values(read().svc_callbacks_ended_total)).toEqual([
      ["delivered", 1],
      ["failed", 1],
    ]);
    expect(values(read().svc_callback_sends_total).filter(([, count]) => count === 1)).toHaveLength(3);
  });
});
