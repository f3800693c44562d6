import { describeMachine } from "../run/machine.ts";
import { format } from "../run/report.ts";
import type { FiguresRecord } from "./record.ts";

const BEGIN = "<!-- figures of the record: written by `bun run bench --record` -->";
const END = "<!-- end of the figures -->";

/** Puts the figures of a record, or that there is none, between the two marks of a page. @throws Error when it lacks them */
export function placeFigures(page: string, record: FiguresRecord | undefined): string {
  return placeBetween(page, { begin: BEGIN, end: END }, renderFigures(record));
}

/** Puts a text between two marks of a page, in place of what is there. @throws Error when it lacks them */
export function placeBetween(
  page: string,
  marks: { readonly begin: string; readonly end: string },
  text: string,
): string {
  const [begin, end] = [page.indexOf(marks.begin), page.indexOf(marks.end)];
  if (begin === -1 || end < begin)
    throw new Error(`The page lacks the lines "${marks.begin}" and "${marks.end}".`);
  return `${page.slice(0, begin + marks.begin.length)}\n\n${text}\n\n${page.slice(end)}`;
}

function renderFigures(record: FiguresRecord | undefined): string {
  if (record === undefined) return "There is no record of this version yet.";
  const { version, commit, benches, machine, rounds, command, lines } = record;
  const { memory_gb: memoryGb, core_each: isPinned, ...more } = machine;
  const days = benches.map((each) => each.taken_at.slice(0, 10)).sort();
  const when = [...new Set([days.at(0), days.at(-1)])].join(" to ");
  return [
    `svc ${version} at commit ${commit?.slice(0, 12)}, ${when}, \`${command}\`: medians of ${rounds} interleaved rounds on`,
    `${describeMachine({ ...more, memoryGb, isPinned })}. All values are in [the record](benchmarks/${version}.json).`,
    "",
    "| `--only` | | svc | processor time of each | baseline, same run | ratio | draws |",
    "|---|---|---|---|---|---|---|",
    ...lines.map(rowOf),
  ].join("\n");
}

function rowOf(line: FiguresRecord["lines"][number]): string {
  const { bench, name, unit, median, processor_time_us: each, baseline, renders } = line;
  const cells = [
    bench,
    name,
    `${format(median)} ${unit}`,
    each === null ? "" : `${format(each.median)} µs`,
    baseline === null
      ? ""
      : [`${format(baseline.median)} ${unit}`, baseline.name ?? ""].filter(Boolean).join(": "),
    baseline === null ? "" : baseline.ratio.toFixed(2),
    renders ?? "",
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
