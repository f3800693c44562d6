import { basename } from "node:path";
import type { Started } from "../../src/app/app.ts";
import type { Config } from "../../src/config/config.ts";
import { VERSION } from "../../src/version.ts";
import type { Style } from "../format/style.ts";
import type { Field } from "../format/table.ts";
import { showPath } from "../local.ts";

/** Renders what a person sees when the server is up: where things are and, the first time, the key and a command to try. */
export function renderBanner(
  started: Started,
  config: Config,
  { cwd, style }: { cwd: string; style: Style },
): string {
  const platform = `${process.platform}-${process.arch}`;
  const facts: Field[] = [
    ["data", `${showPath(config.dataDir, cwd)}${started.createdDataDir ? "  (created, 0700)" : ""}`],
    ["database", `${basename(started.database)}  (${migrationsText(started)})`],
    ["storage", `${showPath(started.assets, cwd)}  (local files)`],
    ["models", modelsLine(started)],
    ["settings", config.configFile && showPath(config.configFile, cwd)],
  ];
  const addresses: Field[] = [
    ["API", `${started.urls.api}/v1`],
    [
      "Images",
      `${started.urls.long ?? started.urls.api}/compat/v1  (base URL for clients of the images API)`,
    ],
    ["Docs", `${started.urls.api}/docs`],
    ["Long", started.urls.long && `${started.urls.long}/v1  (requests that take long)`],
  ];
  const lines = (fields: readonly Field[], paint: (value: string) => string) =>
    fields.flatMap(([name, value]) =>
      value === undefined ? [] : [`  ${style.dim(name.padEnd(9))} ${paint(value)}\n`],
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

/** Renders the last lines of a start. */
export function renderReady({ resumedTasks: resumed, readyInMs }: Started): string {
  const tasks = resumed === 0 ? "" : `  ${resumed} ${resumed === 1 ? "task" : "tasks"} resumed.\n`;
  return `${tasks}  Ready in ${readyInMs} ms. Ctrl-C stops after the steps under way; tasks go on at the next start (again to force).\n`;
}

function migrationsText({ migrations: count }: Started): string {
  if (count === 0) return "up to date";
  return `${count} ${count === 1 ? "migration" : "migrations"} applied`;
}

function modelsLine({ models, providers }: Started): string {
  const names = models.length === 0 ? "" : `: ${models.map(({ id }) => id).join(", ")}`;
  return `${models.length} ready${names}      providers: ${providers.join(", ") || "none"}`;
}

function firstSteps({ models, urls }: Started, key: string, style: Style): string {
  const heading = `  Your first API key (shown once):  ${style.bold(key)}\n`;
  if (!models.some(({ id }) => id === "sandbox-image")) return `${heading}\n`;
  return [
    heading,
    "  Try it:\n",
    `    curl -s ${urls.api}/v1/images/generations \\\n`,
    `      -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\\n`,
    `      -d '{"model":"sandbox-image","prompt":"a lighthouse at dusk"}'\n`,
    "  Or with this program:\n",
    `    export SVC_SERVER=${urls.api} SVC_API_KEY=${key}\n`,
    `    svc task submit --model sandbox-image --prompt "a lighthouse at dusk" -o lighthouse.png\n\n`,
  ].join("");
}
