import { basename } from "node:path";
import type { Started } from "../../src/app/app.ts";
import type { Config } from "../../src/config/config.ts";
import { VERSION } from "../../src/version.ts";
import type { Style } from "../format/style.ts";
import type { Field } from "../format/table.ts";
import { showPath } from "../local.ts";
import { wrapCells } from "../tui/kit/cells.ts";

/** Cells before the values. */
const INDENT = 12;
const MAX_LINES = 20;

interface BannerOptions {
  readonly cwd: string;
  readonly style: Style;
  readonly width: number;
  /** Opens the console once. */
  readonly link: string | undefined;
}

/** Renders what a person sees when the server is up: where things are and, the first time, the key and a command to try. */
export function renderBanner(
  started: Started,
  config: Config,
  { cwd, style, width, link }: BannerOptions,
): string {
  const platform = `${process.platform}-${process.arch}`;
  const facts: Field[] = [
    ["data", `${showPath(config.dataDir, cwd)}${started.createdDataDir ? "  (created, 0700)" : ""}`],
    ["database", `${basename(started.database)}  (${migrationsText(started)})`],
    ["storage", `${showPath(started.assets, cwd)}  (local files)`],
    ["models", modelsLine(started)],
    ["providers", started.providers.join(", ") || "none"],
    ["settings", config.configFile && showPath(config.configFile, cwd)],
  ];
  const addresses: Field[] = [
    ["API", `${started.urls.api}/v1`],
    [
      "Images",
      `${started.urls.long ?? started.urls.api}/compat/v1  (base URL for clients of the images API)`,
    ],
    ["Docs", `${started.urls.api}/docs`],
    ["Console", consoleLine(started, config, link)],
    ["Metrics", started.metricsUrl],
    ["Long", started.urls.long && `${started.urls.long}/v1  (requests that take long)`],
  ];
  const lines = (fields: readonly Field[], paint: (value: string) => string) =>
    fields.flatMap(([name, value = ""]) =>
      wrapCells(value, Math.max(INDENT, width - INDENT), MAX_LINES).map((line, i) => {
        const label = (i === 0 ? name : "").padEnd(INDENT - 3);
        return value === "" ? "" : `  ${style.dim(label)} ${paint(line)}\n`;
      }),
    );
  return [
    `  ${style.bold(`svc ${VERSION}`)} · bun ${Bun.version} · ${platform}\n`,
    ...lines(facts, (value) => value),
    "\n",
    ...lines(addresses, style.cyan),
    "\n",
    started.firstKey === undefined ? "" : firstSteps(started, started.firstKey, style),
  ].join("");
}

function consoleLine({ urls }: Started, config: Config, link: string | undefined): string | undefined {
  if (!config.console) return undefined;
  return link === undefined ? `${urls.api}/console` : `${link}  (one use, 30 min)`;
}

/** Renders the last lines of a start. */
export function renderReady({ resumedTasks: resumed, readyInMs }: Started): string {
  const tasks = resumed === 0 ? "" : `  ${resumed} ${resumed === 1 ? "task" : "tasks"} resumed.\n`;
  return `${tasks}  Ready in ${readyInMs} ms. Ctrl-C stops after the steps under way, a second one at once;\n  tasks go on at the next start.\n`;
}

function migrationsText({ migrations: count }: Started): string {
  if (count === 0) return "up to date";
  return `${count} ${count === 1 ? "migration" : "migrations"} applied`;
}

function modelsLine({ models }: Started): string {
  const names = models.length === 0 ? "" : `: ${models.map(({ id }) => id).join(", ")}`;
  return `${models.length} ready${names}`;
}

function firstSteps({ models, urls }: Started, key: string, style: Style): string {
  const heading = `  Your first API key (shown once):\n    ${style.bold(key)}\n`;
  if (!models.some(({ id }) => id === "sandbox-image")) return `${heading}\n`;
  return [
    heading,
    "  Try it:\n",
    `    curl -s ${urls.api}/v1/images/generations \\\n`,
    `      -H 'Authorization: Bearer ${key}' \\\n`,
    "      -H 'Content-Type: application/json' \\\n",
    `      -d '{"model":"sandbox-image","prompt":"a lighthouse at dusk"}'\n`,
    "  Or with this program:\n",
    `    export SVC_SERVER=${urls.api}\n`,
    `    export SVC_API_KEY=${key}\n`,
    `    svc image "a lighthouse at dusk"\n\n`,
  ].join("");
}
