import { type LoadGenerator, perSecond } from "../load/generator.ts";
import type { LoadPlan } from "../load/plan.ts";
import { cpuMs } from "./process.ts";
import { type Measurement, measurement } from "./report.ts";

/** What one round of requests came to. */
export interface Rate {
  readonly perSecond: number;
  /** Processor time of the server, all its threads, for one request; undefined where /proc does not tell. */
  readonly cpuUs: number | undefined;
}

export interface RateSubject {
  readonly server: { readonly port: number; readonly pid: number };
  readonly requests: readonly string[];
  readonly connections: number;
  readonly answer?: LoadPlan["answer"];
}

export async function measureRate(load: LoadGenerator, subject: RateSubject, count: number): Promise<Rate> {
  const { server, requests, connections, answer } = subject;
  const before = cpuMs(server.pid);
  const until = { kind: "responses", count } as const;
  const expected = answer === undefined ? {} : { answer };
  const result = await load.run({ port: server.port, connections, requests, until, ...expected });
  const after = cpuMs(server.pid);
  const cpuUs = before === undefined || after === undefined ? undefined : ((after - before) / count) * 1000;
  return { perSecond: perSecond(result), cpuUs };
}

/**
 * Requests per second, and beside it the processor time of each. The second counts no waiting, neither for the disk nor for a
 * core that others use, and is the steadier of the two.
 */
export function rateMeasurement(
  name: string,
  rates: readonly Rate[],
  baseline: { readonly name: string; readonly rates: readonly Rate[] },
  more: Pick<Measurement, "target" | "note" | "renders"> = {},
): Measurement {
  return measurement({
    ...more,
    name,
    unit: "req/s",
    values: rates.map((rate) => rate.perSecond),
    baseline: { name: baseline.name, values: baseline.rates.map((rate) => rate.perSecond) },
    eachUs: { values: cpuOf(rates), baseline: cpuOf(baseline.rates) },
  });
}

function cpuOf(rates: readonly Rate[]): number[] {
  return rates.map((rate) => rate.cpuUs).filter((value) => value !== undefined);
}
