import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { parse } from "yaml";
import { isJsonObject } from "../../src/domain/json.ts";
import { ROOT } from "../docs/blocks.ts";
import { freePort } from "../helpers/free-port.ts";
import { emptyFolder, startServer, stopServers } from "../helpers/server.ts";
import { createApi } from "./support/api.ts";
import { readScrape, type ScrapedMetric } from "./support/scrape.ts";

setDefaultTimeout(120_000);

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

const ALERTS = join(ROOT, "docs/monitoring/alerts.yaml");
const hasPrometheus = Bun.which("prometheus") !== null && Bun.which("promtool") !== null;
if (!hasPrometheus) console.warn("Prometheus is not installed: rules and dashboard are not run by it.");

let address: string;
let metrics: Map<string, ScrapedMetric>;
let rules: readonly Rule[];
/** By title of the panel. */
let queries: readonly (readonly [title: string, expr: string])[];

beforeAll(async () => {
  address = `127.0.0.1:${freePort()}`;
  const server = await startServer({ args: ["--metrics-address", address] });
  const api = createApi(server.url, server.firstKey());
  await api.make({ model: "sandbox-image", prompt: "A fox", size: "16x16", sandbox: { delay_ms: 0 } });
  metrics = readScrape(await (await fetch(`http://${address}/metrics`, { keepalive: false })).text());
  // Safe: the test of their form fails first where they are otherwise.
  rules = parse(await Bun.file(ALERTS).text()).groups.flatMap((group: { rules: Rule[] }) => group.rules);
  queries = queriesOf(await Bun.file(join(ROOT, "docs/monitoring/dashboard.json")).json());
});
afterAll(stopServers);

function queriesOf({ panels, annotations }: Dashboard): [string, string][] {
  const shown = panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }): [string, string] => [title, expr]),
  );
  return [...shown, ...annotations.list.map(({ name, expr }): [string, string] => [name, expr])];
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] };
}

/** The metrics that an expression names, without the suffixes of histograms. */
function namesIn(expr: string): string[] {
  const named = [...expr.matchAll(/\b(?:svc|process)_\w+/g)].map(([name]) => name);
  return named.map((name) => (metrics.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, "")));
}

/** Names of labels that an expression selects or sums by. */
function labelsIn(expr: string): string[] {
  const selected = [...expr.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = ""]) => label);
  const grouped = [...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, list = ""]) =>
    list.split(","),
  );
  return [...selected, ...grouped.map((label) => label.trim())];
}

/** Labels that Prometheus adds, and that of histograms' buckets. */
const OUTSIDE = new Set(["instance", "job", "le"]);

describe("rules and dashboard", () => {
  test("name metrics that a scrape of the executable has, and labels that the manual gives them", async () => {
    const manual = await Bun.file(join(ROOT, "docs/monitoring.md")).text();
    const labelsOf = (name: string) =>
      manual.split("\n").find((line) => line.startsWith(`| \`${name}\``)) ?? "";
    const all = [...queries, ...rules.map(({ alert, expr }) => [alert, expr] as const)];
    expect(all.length).toBeGreaterThan(40);
    const wrong = all.flatMap(([where, expr]) => {
      const names = namesIn(expr);
      const rows = names.map(labelsOf).join("");
      const labels = labelsIn(expr).filter((label) => !OUTSIDE.has(label) && !rows.includes(`\`${label}\``));
      return [...names.filter((name) => !metrics.has(name)), ...labels].map((name) => `${where}: ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  test("say of each alert what is the matter and what to do", () => {
    expect(rules.filter(({ annotations: { summary, action } }) => !summary || !action)).toEqual([]);
  });

  test("show every metric of the service but what it was built as", () => {
    const shown = new Set(
      [...queries.map(([, expr]) => expr), ...rules.map(({ expr }) => expr)].flatMap(namesIn),
    );
    expect([...metrics.keys()].filter((name) => !shown.has(name))).toEqual(["svc_build_info"]);
  });
});

/** Prometheus itself, scraping the server every second. */
async function startPrometheus() {
  const folder = emptyFolder("prometheus");
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [ALERTS],
    scrape_configs: [{ job_name: "svc", static_configs: [{ targets: [address] }] }],
  };
  await Bun.write(join(folder, "prometheus.yml"), JSON.stringify(config));
  const port = freePort();
  const child = Bun.spawn(
    [
      ...["prometheus", `--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`],
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdout: "ignore", stderr: Bun.file(join(folder, "log")) },
  );
  const ask = async (path: string): Promise<{ status: string; data: unknown }> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, { keepalive: false });
    return (await response.json()) as { status: string; data: unknown };
  };
  const asked = (expr: string) => ask(`query?query=${encodeURIComponent(expr)}`);
  const isScraped = async () => {
    const answer = await asked('up{job="svc"} == 1').catch(() => undefined);
    return isJsonObject(answer?.data) && JSON.stringify(answer.data.result) !== "[]";
  };
  const until = performance.now() + 60_000;
  while (!(await isScraped())) {
    if (performance.now() > until) throw new Error(await Bun.file(join(folder, "log")).text());
    await Bun.sleep(100);
  }
  return {
    ask,
    asked,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

describe.skipIf(!hasPrometheus)("Prometheus", () => {
  test("takes the rules", async () => {
    const check = Bun.spawn(["promtool", "check", "rules", ALERTS], { stdout: "pipe", stderr: "pipe" });
    expect([await check.exited, await check.stdout.text()]).toEqual([
      0,
      expect.stringContaining(`SUCCESS: ${rules.length} rules found`),
    ]);
  });

  test("scrapes the server, answers every query of the dashboard, and evaluates every rule", async () => {
    await using prometheus = await startPrometheus();
    for (const [title, expr] of queries) {
      const query = expr.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*");
      const answer = await prometheus.asked(query);
      expect([title, answer.status]).toEqual([title, "success"]);
    }
    const { data } = await prometheus.asked("svc_ready");
    expect(JSON.stringify(data)).toContain('"1"');
    const told = await prometheus.ask("rules");
    const groups = (told.data as { groups: { rules: { name: string; lastError?: string }[] }[] }).groups;
    const evaluated = groups.flatMap((group) => group.rules);
    expect(evaluated.map(({ name, lastError = "" }) => [name, lastError])).toEqual(
      rules.map(({ alert }) => [alert, ""]),
    );
    const firing = await prometheus.asked('ALERTS{alertstate="firing",alertname!="SvcDiskFills"}');
    expect((firing.data as { result: unknown[] }).result).toEqual([]);
  });
});
