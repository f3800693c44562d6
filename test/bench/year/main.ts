/*
 * `bun run year`: a simulated year of a service that keeps tasks for some days, and what of them its books say for some more. Every
 * day so many tasks are accepted, completed, removed and summed up by the store and by what removes in a server. In the end the books
 * must add up, and the database may not have grown since everything was in turn.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { whole } from "../../torture/options.ts";
import { plot } from "./plot.ts";
import { simulateYear, type YearOptions } from "./simulate.ts";

const USAGE = `bun run year [--days 365] [--tasks 1000] [--kept 30] [--books 31] [--plot FILE.svg]

  --days   how long the simulated time is
  --tasks  how many tasks are made on each day
  --kept   after how many days a task is deleted
  --books  after how many days the books have it in sums alone, counted from its end
  --plot   where the sizes of all days are drawn
`;
/** How much larger the database may be at the end than when the first tasks had become sums. */
const GROWTH = 1.03;

try {
  const { options, file } = readOptions(process.argv.slice(2));
  const report = await simulateYear(options, (line) => process.stdout.write(`${line}\n`));
  if (file !== undefined) writeFileSync(file, plot(report.days, options));
  const [settled, last] = [report.days[options.books + 10], report.days.at(-1)];
  const ratio = (last?.fileBytes ?? Number.NaN) / (settled?.fileBytes ?? Number.NaN);
  process.stdout.write(
    `the file at the end: ${ratio.toFixed(3)} times what it was on day ${options.books + 10}; differences in the books: ${report.differences}; ` +
      `tasks in the usage: ${report.counted} of ${report.made}\n`,
  );
  process.exit(report.differences === 0 && report.counted === report.made && ratio <= GROWTH ? 0 : 1);
} catch (error) {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n\n${USAGE}`,
  );
  process.exit(2);
}

/** @throws Error that says what is wrong with the arguments */
function readOptions(args: readonly string[]): { options: YearOptions; file: string | undefined } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      days: { type: "string", default: "365" },
      tasks: { type: "string", default: "1000" },
      kept: { type: "string", default: "30" },
      books: { type: "string", default: "31" },
      plot: { type: "string" },
    },
  });
  const options = {
    days: whole("--days", values.days),
    tasks: whole("--tasks", values.tasks),
    kept: whole("--kept", values.kept),
    books: whole("--books", values.books),
  };
  if (options.days <= options.books + 10 || options.books < options.kept)
    throw new Error("--days must be more than --books and ten, and --books no less than --kept.");
  return { options, file: values.plot };
}
