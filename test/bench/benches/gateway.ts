import { Database } from "bun:sqlite";
import { basename, join } from "node:path";
import type { JsonObject } from "../../../src/domain/json.ts";
import { inWords } from "../../helpers/in-words.ts";
import { startBaseline } from "../baselines/baseline.ts";
import { installGateway, RUNTIME, startGateway } from "../baselines/gateway/start.ts";
import { askingUpstream } from "../baselines/images-answer.ts";
import { perSecond } from "../load/generator.ts";
import { requestText } from "../load/plan.ts";
import { cpuMs } from "../run/process.ts";
import { type Rate, rateMeasurement } from "../run/rate.ts";
import { type Measurement, measurement } from "../run/report.ts";
import { Resources } from "../run/resources.ts";
import { copyDataFolder, type DataFolder, startService } from "../run/service.ts";
import { interleave } from "../run/statistics.ts";
import type { Bench, BenchContext } from "./bench.ts";

const CLIENTS = 32;
const PER_ROUND = 4_000;
/** Until then the engine still compiles what a call runs through, which takes a third of the service's processor time. */
const WARM_UP = 16_000;
const PRICE_MICROS = 10_000;
const SAME = "nothing: the upstream answers the same PNG of one pixel each time";
const LEAST = "sync calls, the least in Bun: passed on";
const FRESH = "nothing: the upstream answers another PNG of one pixel each time";

/**
 * What a synchronous call costs beside a gateway that passes the same call on and keeps nothing. Ours stores, prices and settles
 * each: with the upstream in its own process, whose answer is the same each time, as the gateway's is; with one that answers
 * another picture each time, which is decoded and flushed; and with the gateway's own upstream behind the OpenAI adapter. Beside
 * these, the least that a program on the same runtime does: it passes the call on, with and without two commits.
 */
export const gateway: Bench = async (context) => {
  await using resources = new Resources();
  const installed = await installGateway(context.shared);
  if ("refusal" in installed) {
    process.stderr.write(` skipped, for the gateway could not be installed: ${installed.refusal}`);
    return [];
  }
  const upstream = await resources.open(startBaseline({ mode: "image" }, "client"));
  const upstreamUrl = `http://127.0.0.1:${upstream.port}/v1`;
  const peer = await resources.open(startGateway(installed.path));
  const instant = await serve(context, resources, "instant", { isInstant: true });
  const images = `${upstreamUrl}/images/generations`;
  const bare = await resources.open(startBaseline({ mode: "forward", upstream: images }));
  const stored = await resources.open(
    startBaseline({
      ...{ mode: "forward-stored", upstream: images, template: context.template },
      database: copyDataFolder(context.folder, join(context.workspace, "stored")).database,
    }),
  );
  const adapter = await serve(context, resources, "adapter", {
    env: askingUpstream(upstreamUrl),
  });
  const subjects = {
    peer: { server: peer, request: throughGateway(upstreamUrl) },
    instant: { server: instant, request: generating(instant.folder, { model: "sandbox-image" }) },
    fresh: { server: instant, request: generating(instant.folder, { model: "sandbox-image", seed: 1 }) },
    adapter: { server: adapter, request: generating(adapter.folder, { model: "gpt-image-1-mini" }) },
    bare: { server: bare, request: throughGateway(upstreamUrl) },
    stored: { server: stored, request: throughGateway(upstreamUrl) },
  };
  const measuring = (subject: Subject, count: number) => () => run(context, subject, count);
  const [warmUp, count] = [context.scaled(WARM_UP), context.scaled(PER_ROUND)];
  for (const subject of Object.values(subjects)) await run(context, subject, warmUp);
  const rounds = await interleave(context.rounds, {
    peer: measuring(subjects.peer, count),
    instant: measuring(subjects.instant, count),
    fresh: measuring(subjects.fresh, count),
    adapter: measuring(subjects.adapter, count),
    bare: measuring(subjects.bare, count),
    stored: measuring(subjects.stored, count),
  });
  const made = warmUp + context.rounds * count;
  requireSettled(instant.folder, 2 * made, PRICE_MICROS);
  requireSettled(adapter.folder, made);

  const baseline = { name: `@portkey-ai/gateway on ${basename(RUNTIME)}`, rounds: rounds.peer };
  const rates = { name: baseline.name, rates: rounds.peer };
  const least = (value: number) => ({ target: { kind: "leastRatio", value } }) as const;
  return [
    ...linesOf("sync calls, stored and settled", rounds.instant, baseline, { ...least(5), renders: SAME }),
    ...linesOf("sync calls, each with a picture nobody has seen", rounds.fresh, baseline, {
      ...least(1.5),
      renders: FRESH,
    }),
    ...linesOf("sync calls through the OpenAI adapter", rounds.adapter, baseline, { renders: SAME }),
    rateMeasurement(LEAST, rounds.bare, rates, { renders: SAME }),
    rateMeasurement(`${LEAST}, two commits`, rounds.stored, rates, { renders: SAME }),
  ];
};

interface Subject {
  readonly server: { readonly port: number; readonly pid: number };
  readonly request: string;
}

interface Round extends Rate {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

async function serve(
  context: BenchContext,
  resources: Resources,
  name: string,
  options: Parameters<typeof startService>[1],
) {
  const folder = copyDataFolder(context.folder, join(context.workspace, name));
  return resources.open(startService(folder, options));
}

async function run(context: BenchContext, { server, request }: Subject, count: number): Promise<Round> {
  const before = cpuMs(server.pid);
  const result = await context.load.run({
    port: server.port,
    connections: CLIENTS,
    requests: [request],
    until: { kind: "responses", count },
  });
  const after = cpuMs(server.pid);
  const cpuUs = before === undefined || after === undefined ? undefined : ((after - before) / count) * 1000;
  return { perSecond: perSecond(result), p50Ms: result.p50Ms, p99Ms: result.p99Ms, cpuUs };
}

function linesOf(
  name: string,
  own: readonly Round[],
  baseline: { readonly name: string; readonly rounds: readonly Round[] },
  more: Pick<Measurement, "target" | "renders">,
): Measurement[] {
  const figuresOf = (rounds: readonly Round[], figure: keyof Round) =>
    rounds.map((round) => round[figure]).filter((value) => value !== undefined);
  const latency = (label: string, figure: keyof Round) =>
    measurement({
      name: `  ${name}: ${label}`,
      unit: "ms",
      values: figuresOf(own, figure),
      baseline: { values: figuresOf(baseline.rounds, figure) },
      renders: more.renders,
    });
  const rate = rateMeasurement(name, own, { name: baseline.name, rates: baseline.rounds }, more);
  return [rate, latency("p50", "p50Ms"), latency("p99", "p99Ms")];
}

const BODY = { prompt: "a lighthouse at dusk, seen from the sea, with gulls around the lamp" } as const;

function generating({ prepaidKey }: DataFolder, asked: JsonObject): string {
  return requestText({
    method: "POST",
    path: "/compat/v1/images/generations",
    headers: { Authorization: `Bearer ${prepaidKey}` },
    body: JSON.stringify({ ...asked, ...BODY }),
  });
}

function throughGateway(upstreamUrl: string): string {
  return requestText({
    method: "POST",
    path: "/v1/images/generations",
    headers: {
      Authorization: "Bearer sk-bench",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": upstreamUrl,
    },
    body: JSON.stringify({ model: "gpt-image-1-mini", ...BODY }),
  });
}

/** @throws Error unless every call is a completed task that was paid in full, and nothing else was paid */
function requireSettled(folder: DataFolder, calls: number, priceMicros?: number): void {
  using db = inWords(new Database(folder.database, { readonly: true }));
  const found = db
    .query<{ completed: number; charged: number; captured: number; paid: number; held: number }, []>(
      `with called as (select * from task where account_id = (select id from account where name = 'bench-prepaid'))
       select (select count(*) from called where status = 'completed') as completed,
              (select total(charged_micros) from called) as charged,
              (select count(*) from ledger_entry where kind = 'capture' and task_id in (select id from called)) as captured,
              (select -total(balance_delta_micros) from ledger_entry
               where kind = 'capture' and task_id in (select id from called)) as paid,
              (select held_micros from account where name = 'bench-prepaid') as held`,
    )
    .get();
  const { completed = 0, charged = 0, captured = 0, paid = 0, held = 0 } = found ?? {};
  const isRightPrice = priceMicros === undefined ? paid > 0 : paid === calls * priceMicros;
  if (completed === calls && captured === calls && charged === paid && held === 0 && isRightPrice) return;
  throw new Error(`${calls} calls came to ${JSON.stringify(found)}.`);
}
