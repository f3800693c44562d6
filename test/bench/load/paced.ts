/*
 * Sends requests at set times and tells how long after these times their answers were there. A server that stands still for a moment
 * delays all that were due meanwhile, which clients that wait for each answer would not notice. Takes a plan as its argument.
 */
import { quantile } from "../run/statistics.ts";
import type { PacedKind, PacedPlan, PacedResult } from "./paced-plan.ts";

const plan = JSON.parse(await Bun.stdin.text()) as PacedPlan;
const run = crypto.randomUUID();

async function ask({ method, paths, headers, isKeyed, body }: PacedKind, number: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${plan.port}${paths[number % paths.length]}`, {
    method,
    headers: isKeyed === true ? { ...headers, "Idempotency-Key": `${run}-${number}` } : headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${paths[0]} answered ${response.status}: ${text}`);
}

/** @param after when the first one is due: kinds take turns */
async function runKind(kind: PacedKind, after: number): Promise<PacedResult> {
  const took: number[] = [];
  const asked: Promise<void>[] = [];
  const count = Math.round((plan.ms / 1000) * plan.perSecond);
  for (let number = 0; number < count; number++) {
    const due = after + (number * 1000) / plan.perSecond;
    for (let early = due - performance.now(); early > 0; early = due - performance.now())
      await Bun.sleep(Math.ceil(early));
    asked.push(ask(kind, number).then(() => void took.push(performance.now() - due)));
  }
  await Promise.all(asked);
  took.sort((a, b) => a - b);
  const [p50Ms, p99Ms, mostMs] = [quantile(took, 0.5), quantile(took, 0.99), took.at(-1) ?? 0];
  return { name: kind.name, count, p50Ms, p99Ms, mostMs };
}

const from = performance.now() + 100;
const spread = 1000 / plan.perSecond / plan.kinds.length;
const results = await Promise.all(plan.kinds.map((kind, i) => runKind(kind, from + i * spread)));
process.stdout.write(JSON.stringify(results));
