/*
 * `bun run simulate`: how far nodes on one PostgreSQL database go, played with service times that were measured, and what is full first.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { whole } from "../../torture/options.ts";
import { placeBetween } from "../record/page.ts";
import { plot } from "./plot.ts";
import type { ScalingRecord } from "./record.ts";
import { compare, points, renderBends, renderComparison, renderLog, renderPoints } from "./report.ts";

const RECORD = join(import.meta.dir, "../../../docs/scaling/measured.json");
const PAGE = join(import.meta.dir, "../../../docs/scaling.md");
const MARKS = {
  begin: "<!-- figures: written by `bun run simulate --write` -->",
  end: "<!-- end of the figures -->",
};
const PLOT = join(import.meta.dir, "../../../docs/images/scaling.svg");
const USAGE = `bun run simulate [--record docs/scaling/measured.json] [--seconds 2] [--seed 1] [--plot FILE.svg] [--write]

  --record   what was measured: \`bun test/bench/scaling/measure.ts FILE\` writes one of this machine
  --seconds  of simulated time for each line
  --seed     decides all that is by chance: the same seed gives the same figures
  --plot     where the lines are drawn
  --write    puts figures and plot into docs/scaling.md
`;

try {
  const { values } = parseArgs({
    options: {
      record: { type: "string", default: RECORD },
      seconds: { type: "string", default: "2" },
      seed: { type: "string", default: "1" },
      plot: { type: "string" },
      write: { type: "boolean", default: false },
    },
  });
  const [seed, seconds] = [whole("--seed", values.seed), whole("--seconds", values.seconds)];
  // Nothing but `measure.ts` writes it.
  const record = JSON.parse(readFileSync(values.record, "utf8")) as ScalingRecord;
  const about = `Measured on ${record.machine}, ${record.takenAt.slice(0, 10)}`;
  const compared = compare(record, seed);
  process.stdout.write(`${about}\n\n${renderComparison(compared)}\n\n`);
  const all = points(record, { seed, seconds }, () => process.stderr.write("."));
  process.stderr.write("\n");
  process.stdout.write(`${renderPoints(all)}\n\n${renderLog(record)}\n`);
  if (values.write) {
    const figures = [about, renderComparison(compared), renderBends(all), `${renderLog(record)}.`];
    writeFileSync(PAGE, placeBetween(readFileSync(PAGE, "utf8"), MARKS, figures.join("\n\n")));
    writeFileSync(PLOT, plot(all));
  }
  if (values.plot !== undefined) writeFileSync(values.plot, plot(all));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}
