/*
 * `bun run torture:overload`: asks the compiled server for five times the tasks that its provider's account makes, for a minute, and
 * measures what is made, how long reading a status takes meanwhile, and when everything is taken again afterwards.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { SVC } from "../helpers/server.ts";
import { whole } from "./options.ts";
import { type Overload, PROMISES, runOverload } from "./overload-run.ts";

const USAGE = `bun run torture:overload [--seconds 60] [--times 5]

  --seconds  how long too much is asked for
  --times    how many times what can be made
`;

try {
  const { values } = parseArgs({
    options: { seconds: { type: "string", default: "60" }, times: { type: "string", default: "5" } },
  });
  const options = { seconds: whole("--seconds", values.seconds), times: whole("--times", values.times) };
  if (!existsSync(SVC)) throw new Error(`There is no ${SVC}; \`bun run build\` makes it.`);
  print(`torture:overload: ${options.times} times what can be made, for ${options.seconds} s, ${SVC}\n`);
  const found = await runOverload(options);
  show(found);
  const broken = brokenPromises(found);
  for (const line of broken) print(`- ${line}`);
  print(broken.length === 0 ? "PASS" : `FAIL: ${broken.length} findings`);
  process.exit(broken.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}

function show(found: Overload): void {
  const { peakPerSecond, goodPerSecond, statusP50Ms, statusP99Ms } = found;
  const share = ((goodPerSecond / peakPerSecond) * 100).toFixed(1);
  print(`peak      ${peakPerSecond.toFixed(1)} tasks/s`);
  print(`overload  ${goodPerSecond.toFixed(1)} tasks/s (${share} % of the peak)`);
  print(
    `creates   ${found.asked} asked, ${found.accepted} taken, ${found.refused} refused, ${found.wrong} wrong`,
  );
  print(`          Retry-After ${found.retryAfterSec.join(" to ")} s`);
  print(
    `status    ${found.statuses} read: p50 ${statusP50Ms.toFixed(1)} ms, p99 ${statusP99Ms.toFixed(1)} ms`,
  );
  print(`recovery  ${(found.recoveryMs / 1000).toFixed(2)} s\n`);
}

function brokenPromises(found: Overload): string[] {
  const { goodput, statusP99Ms, recoveryMs } = PROMISES;
  return [
    ...(found.goodPerSecond < goodput * found.peakPerSecond
      ? [`less than ${goodput * 100} % of the peak`]
      : []),
    ...(found.statusP99Ms > statusP99Ms ? [`the p99 of a status is above ${statusP99Ms} ms`] : []),
    ...(found.recoveryMs > recoveryMs ? [`the recovery takes longer than ${recoveryMs / 1000} s`] : []),
    ...(found.refused === 0 ? ["nothing was refused: it was no overload"] : []),
    ...(found.wrong > 0 ? ["some answers were neither taken nor refused with Retry-After"] : []),
  ];
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
