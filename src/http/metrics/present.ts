import {
  type Figures,
  METRICS,
  type MetricForm,
  type MetricName,
  type Sample,
} from "../../domain/metrics.ts";

/** The text format of Prometheus, version 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/, checked 2026-11-23). */
export function presentMetrics(figures: Figures): string {
  let text = "";
  // Safe: the names of the table.
  for (const [name, form] of Object.entries(METRICS) as [MetricName, MetricForm][]) {
    text += `# HELP ${name} ${form.help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n`;
    text += `# TYPE ${name} ${form.type}\n`;
    for (const sample of figures[name]) text += lineOf(name, sample);
  }
  return text;
}

function lineOf(name: MetricName, { part, labels, value }: Sample): string {
  const given = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  const inBraces = given.length === 0 ? "" : `{${given.join(",")}}`;
  return `${name}${part === undefined ? "" : `_${part}`}${inBraces} ${value}\n`;
}

function escaped(text: string): string {
  return /["\\\n]/.test(text)
    ? text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
    : text;
}
