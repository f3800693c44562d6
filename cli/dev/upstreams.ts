/*
 * Downloads what providers publish of their APIs, for the tests that check our requests against it: `bun run upstreams`.
 * The files go to `upstreams/<provider>/openapi.json`, which git ignores. Exits with 1 when nothing could be had.
 *
 * `--to FOLDER` puts them elsewhere; `--from URL` fetches `URL/<host>/<path>` in place of `https://<host>/<path>`.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import {
  mergeDocuments,
  type OpenApi,
  readOpenApi,
  withInlineExamples,
  withoutNullable,
} from "./published-documents.ts";
import { ROOT, say } from "./steps.ts";

interface Publication {
  /** Where it is kept, below the folder. */
  readonly file: string;
  /** Several are merged into one document. */
  readonly urls: readonly string[];
  readonly prepare?: (document: OpenApi) => OpenApi;
}

const GITHUB = "https://raw.githubusercontent.com";

/** Where each provider publishes its own document. */
const PUBLICATIONS: readonly Publication[] = [
  {
    file: "openai/openapi.json",
    urls: [`${GITHUB}/openai/openai-openapi/main/openapi.json`],
    prepare: withInlineExamples,
  },
  {
    file: "fal/openapi.json",
    urls: falEndpoints().map((id) => `https://fal.ai/api/openapi/queue/openapi.json?endpoint_id=${id}`),
  },
  { file: "fal/platform.openapi.json", urls: ["https://api.fal.ai/v1/openapi.json"] },
  { file: "bfl/openapi.json", urls: ["https://api.bfl.ai/openapi.json"] },
  { file: "ideogram/openapi.json", urls: ["https://api.ideogram.ai/openapi.json"] },
  { file: "luma/openapi.json", urls: [`${GITHUB}/lumalabs/lumaai-api/main/openapi.yaml`] },
  {
    file: "recraft/openapi.json",
    urls: ["https://external.api.recraft.ai/doc/spec/internal/externalapi/api.yaml"],
  },
  { file: "replicate/openapi.json", urls: ["https://api.replicate.com/openapi.json"] },
  { file: "runway/openapi.json", urls: [`${GITHUB}/runwayml/openapi/next/openapi.json`] },
];

const TIMEOUT_MS = 60_000;

const { values: options } = parseArgs({
  options: { from: { type: "string" }, to: { type: "string", default: join(ROOT, "upstreams") } },
});
const outcomes = await Promise.all(PUBLICATIONS.map(download));
process.exit(outcomes.includes(true) ? 0 : 1);

/** @returns whether the file was written whole; else whatever was there before stays */
async function download({ file, urls, prepare = (document) => document }: Publication): Promise<boolean> {
  const results = await Promise.allSettled(urls.map(fetchDocument));
  const documents = results.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  for (const [i, each] of results.entries()) {
    if (each.status === "rejected") say(`failed   ${file}: ${urls[i]}: ${messageOf(each.reason)}`);
  }
  if (documents.length === 0) return false;
  const path = join(options.to, file);
  const partial = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      partial,
      `${JSON.stringify(withoutNullable(prepare(mergeDocuments(documents))), undefined, 2)}\n`,
    );
    renameSync(partial, path);
  } catch (error) {
    say(`failed   ${file}: ${messageOf(error)}`);
    return false;
  }
  say(`fetched  ${file}${urls.length === 1 ? "" : ` (${documents.length} of ${urls.length} documents)`}`);
  return true;
}

async function fetchDocument(url: string): Promise<OpenApi> {
  const { host, pathname, search } = new URL(url);
  const address = options.from === undefined ? url : `${options.from}/${host}${pathname}${search}`;
  const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return readOpenApi(await response.text());
}

/** The endpoints of fal's queue that some model of ours is sent to. */
function falEndpoints(): string[] {
  const folder = join(ROOT, "src/catalog/models");
  const endpoints = readdirSync(folder).flatMap((name) => {
    const manifest = Bun.YAML.parse(readFileSync(join(folder, name), "utf8")) as Manifest;
    return manifest.routes.filter(({ provider }) => provider === "fal").flatMap(endpointsOf);
  });
  return [...new Set(endpoints)].sort();
}

/** As far as it matters here; the manifests' own schema is checked by their tests. */
interface Manifest {
  readonly routes: readonly FalRoute[];
}

interface FalRoute {
  readonly provider: string;
  readonly upstream_model: string;
  readonly wording?: { readonly endpoints?: Readonly<Record<string, string>> };
}

function endpointsOf({ upstream_model: model, wording }: FalRoute): string[] {
  const byMode = Object.values(wording?.endpoints ?? {});
  return byMode.length === 0 ? [model] : byMode.map((each) => (each.startsWith("/") ? model + each : each));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
