/** One line of a scrape. */
export interface ScrapedSample {
  /** As the line has it, with `_bucket`, `_sum` or `_count`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ScrapedMetric {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ScrapedSample[];
}

const COMMENT = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN|\+Inf)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/** Reads the text format of Prometheus, strictly. @throws Error for a line that is none, or stands below another metric */
export function readScrape(text: string): Map<string, ScrapedMetric> {
  if (!text.endsWith("\n")) throw new Error("The last line does not end.");
  const metrics = new Map<string, { type: string; help: string; samples: ScrapedSample[] }>();
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, kind, of = "", rest = ""] = COMMENT.exec(line) ?? [];
    if (kind === "HELP") {
      if (metrics.has(of)) throw new Error(`${of} is there twice.`);
      metrics.set(of, { help: rest, type: "", samples: [] });
      current = of;
    } else if (kind === "TYPE") {
      const metric = metrics.get(of);
      if (metric === undefined || of !== current) throw new Error(`${of} has a type before its help.`);
      metric.type = rest;
    } else {
      const sample = readSample(line);
      const metric = metrics.get(current);
      const suffixes = metric?.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      if (!suffixes.some((suffix) => sample.name === current + suffix))
        throw new Error(`${line} stands below ${current}.`);
      metric?.samples.push(sample);
    }
  }
  return metrics;
}

function readSample(line: string): ScrapedSample {
  const [, name, inBraces = "", value] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw new Error(`This is no sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  let read = 0;
  for (let found = LABEL.exec(inBraces); found !== null; found = LABEL.exec(inBraces)) {
    labels[found[1] ?? ""] = found[2] ?? "";
    read = LABEL.lastIndex;
  }
  if (read !== inBraces.length) throw new Error(`These are no labels: ${inBraces}`);
  return { name, labels, value: Number(value?.replace("Inf", "Infinity")) };
}

/** The value of the one sample with these labels; undefined without it. */
export function sampleValue(
  metrics: ReadonlyMap<string, ScrapedMetric>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const of = metrics.get(name) ?? metrics.get(name.replace(/_(?:bucket|sum|count)$/, ""));
  return of?.samples.find(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )?.value;
}
