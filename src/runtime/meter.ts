import type { Delivery } from "../domain/callback/callback.ts";
import { type CountedName, METRICS, OTHER, type Sample } from "../domain/metrics.ts";
import { ZERO } from "../domain/money/money.ts";
import type { Tally } from "../domain/ports/tally.ts";
import { SHED_KINDS } from "../domain/shedding.ts";
import { Histogram } from "./histogram.ts";

/** Methods that a label names. */
const METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]);
/** The most values of a label whose values come with an operator's models and accounts. */
const MOST_NAMES = 200;
const OUTCOMES = [
  "delivered",
  "refused",
  "unreachable",
  "forbidden",
  "interrupted",
] as const satisfies Delivery["kind"][];
const MICROS_PER_USD = 1_000_000;

type Labels = Sample["labels"];

/** Values by the labels of their samples. Callers bound the labels. */
class Series<Value> {
  readonly #values = new Map<string, { readonly labels: readonly string[]; readonly value: Value }>();

  constructor(
    private readonly names: readonly string[],
    private readonly open: () => Value,
  ) {}

  of(...labels: readonly string[]): Value {
    const key = labels.length === 1 ? (labels[0] as string) : labels.join("\n");
    const known = this.#values.get(key);
    if (known !== undefined) return known.value;
    const value = this.open();
    this.#values.set(key, { labels, value });
    return value;
  }

  samples(samplesOf: (value: Value, labels: Labels) => readonly Sample[]): Sample[] {
    return [...this.#values.values()].flatMap(({ labels, value }) =>
      samplesOf(value, Object.fromEntries(this.names.map((name, i) => [name, labels[i] ?? ""]))),
    );
  }
}

interface Count {
  value: number;
}

/** Counts since the start of the process, for those who scrape it. Its memory is bounded by the bounds of its labels. */
export function createMeter() {
  const all = openAll();
  return { tally: tallyInto(all), read: () => read(all) };
}

function openAll() {
  const count = (name: CountedName) => new Series<Count>(METRICS[name].labels, () => ({ value: 0 }));
  const time = (name: TimedName) =>
    new Series(METRICS[name].labels, () => new Histogram(METRICS[name].bounds));
  const all = {
    requests: createRequests(),
    created: count("svc_tasks_created_total"),
    ended: count("svc_tasks_ended_total"),
    durations: time("svc_task_duration_seconds"),
    stages: time("svc_task_stage_duration_seconds"),
    attempts: count("svc_attempts_ended_total"),
    costs: count("svc_upstream_cost_usd_total"),
    charged: count("svc_charged_usd_total"),
    sends: count("svc_callback_sends_total"),
    callbacks: count("svc_callbacks_ended_total"),
    verdicts: count("svc_moderation_verdicts_total"),
    sheds: count("svc_requests_shed_total"),
    spans: count("svc_spans_total"),
    lag: new Histogram(METRICS.svc_event_loop_lag_seconds.bounds),
  };
  // They exist from the beginning, so that the first event is seen as a rise.
  for (const outcome of OUTCOMES) all.sends.of(outcome);
  for (const state of ["delivered", "failed"]) all.callbacks.of(state);
  for (const kind of SHED_KINDS) all.sheds.of(kind);
  for (const outcome of ["exported", "dropped"]) all.spans.of(outcome);
  return all;
}
type All = ReturnType<typeof openAll>;

function tallyInto(all: All): Tally {
  const [model, lane, upstreamModel, check] = [bounded(), bounded(), bounded(), bounded()];
  return {
    answered: all.requests.add,
    created(id) {
      all.created.of(model(id)).value += 1;
    },
    ended(task) {
      const name = model(task.model);
      all.ended.of(name, task.status).value += 1;
      if (task.status === "completed") all.durations.of(name).add(task.durationMs / 1_000);
      if (task.charged > ZERO) all.charged.of(name).value += task.charged;
    },
    cancelled(id) {
      all.ended.of(model(id), "cancelled").value += 1;
    },
    stageEnded({ lane: id, stage, durationMs }) {
      all.stages.of(lane(id), stage).add(durationMs / 1_000);
    },
    attemptEnded(attempt) {
      const name = lane(attempt.lane);
      all.attempts.of(name, upstreamModel(attempt.upstreamModel), attempt.outcome).value += 1;
      if (attempt.cost > ZERO) all.costs.of(name).value += attempt.cost;
    },
    callbackSent(outcome, isOver) {
      all.sends.of(outcome).value += 1;
      if (isOver) all.callbacks.of(outcome === "delivered" ? "delivered" : "failed").value += 1;
    },
    moderated(judged) {
      all.verdicts.of(check(judged.check), judged.verdict).value += 1;
    },
    spans(outcome, count) {
      all.spans.of(outcome).value += count;
    },
    shed(kind) {
      all.sheds.of(kind).value += 1;
    },
    lagged(durationMs) {
      all.lag.add(durationMs / 1_000);
    },
  };
}

function read(all: All): Readonly<Record<CountedName, readonly Sample[]>> {
  return {
    ...all.requests.read(),
    svc_tasks_created_total: all.created.samples(countOf),
    svc_tasks_ended_total: all.ended.samples(countOf),
    svc_task_duration_seconds: all.durations.samples(timesOf),
    svc_task_stage_duration_seconds: all.stages.samples(timesOf),
    svc_attempts_ended_total: all.attempts.samples(countOf),
    svc_upstream_cost_usd_total: all.costs.samples(amountOf),
    svc_charged_usd_total: all.charged.samples(amountOf),
    svc_callback_sends_total: all.sends.samples(countOf),
    svc_callbacks_ended_total: all.callbacks.samples(countOf),
    svc_moderation_verdicts_total: all.verdicts.samples(countOf),
    svc_requests_shed_total: all.sheds.samples(countOf),
    svc_spans_total: all.spans.samples(countOf),
    svc_event_loop_lag_seconds: all.lag.samples({}),
  };
}

type TimedName = "svc_task_duration_seconds" | "svc_task_stage_duration_seconds";

interface RequestCounts {
  readonly durations: Histogram;
  readonly byStatus: Map<number, number>;
}

/** Counts requests. Every request pays for it, so it looks up three times and joins no text. */
function createRequests() {
  const { labels, bounds } = METRICS.svc_http_request_duration_seconds;
  const routes = new Map<string, Map<string, RequestCounts>>();
  const open = (): RequestCounts => ({ durations: new Histogram(bounds), byStatus: new Map() });

  const add: Tally["answered"] = (status, { route, method, durationMs }) => {
    const byMethod = routes.getOrInsertComputed(route, () => new Map());
    const { durations, byStatus } = byMethod.getOrInsertComputed(METHODS.has(method) ? method : OTHER, open);
    durations.add(durationMs / 1_000);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  };

  function read() {
    const [totals, times]: [Sample[], Sample[]] = [[], []];
    for (const [path, byMethod] of routes)
      for (const [method, { durations, byStatus }] of byMethod) {
        const route = path === "*" ? OTHER : path;
        times.push(...durations.samples({ method, route } satisfies Record<(typeof labels)[number], string>));
        for (const [status, value] of byStatus)
          totals.push({ labels: { method, route, status: String(status) }, value });
      }
    return { svc_http_requests_total: totals, svc_http_request_duration_seconds: times };
  }

  return { add, read };
}

/** Names, as long as there are not too many: those beyond are `other`. */
function bounded(): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= MOST_NAMES) return OTHER;
    known.add(name);
    return name;
  };
}

const countOf = ({ value }: Count, labels: Labels): Sample[] => [{ labels, value }];
const amountOf = ({ value }: Count, labels: Labels): Sample[] => [{ labels, value: value / MICROS_PER_USD }];
const timesOf = (times: Histogram, labels: Labels): Sample[] => times.samples(labels);
