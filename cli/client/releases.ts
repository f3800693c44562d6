import { isJsonObject, type Json } from "../../src/domain/json.ts";
import { readBounded } from "../../src/toolkit/bounded-body.ts";
import { whyNoAnswer } from "./answer.ts";

/** A release that an index lists. */
export interface Release {
  readonly version: string;
  readonly published_at: string | null;
  readonly url: string | null;
  /** What is new, as the project wrote it. */
  readonly notes: string;
}

/** How long anybody waits for news. */
const PATIENCE_MS = 5_000;
const MAX_BYTES = 1_000_000;

/**
 * Asks an index for releases that are newer than a version. The index learns only that svc asks: no version, no platform, no address
 * of a server.
 *
 * @param index answers as the releases API of GitHub or Gitea does
 *   (https://docs.github.com/en/rest/releases/releases#list-releases, checked 2026-11-23)
 * @returns the newest first; or, as a text, why there is no answer
 */
export async function newerReleases(index: URL, current: string): Promise<readonly Release[] | string> {
  try {
    const response = await fetch(index, {
      headers: { Accept: "application/json", "User-Agent": "svc" },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (!response.ok) return `it answered ${response.status}`;
    const listed = releasesIn(JSON.parse(await readText(response)));
    if (listed === undefined) return "its answer is no list of releases";
    return listed
      .filter(({ version }) => isNewer(version, current))
      .sort((a, b) => Bun.semver.order(b.version, a.version));
  } catch (error) {
    return error instanceof SyntaxError ? "its answer is no JSON" : whyNoAnswer(error);
  }
}

async function readText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  const tooLarge = () => new Error("its answer is larger than a megabyte");
  for await (const piece of readBounded(response, { maxBytes: MAX_BYTES, tooLarge })) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

/** Drafts are not published yet, and texts that are no version are skipped. */
function releasesIn(body: Json): Release[] | undefined {
  const entries = Array.isArray(body) ? body : [body];
  if (!entries.every((entry) => isJsonObject(entry) && typeof entry.tag_name === "string")) return undefined;
  return entries.flatMap((entry) => {
    if (!isJsonObject(entry) || entry.draft === true) return [];
    const version = String(entry.tag_name).replace(/^v/, "");
    if (!VERSION.test(version)) return [];
    return [
      {
        version,
        published_at: textOf(entry.published_at),
        url: textOf(entry.html_url),
        notes: textOf(entry.body)?.trim() ?? "",
      },
    ];
  });
}

/** A version as Semantic Versioning has them (https://semver.org, checked 2026-11-23). */
const VERSION = /^\d+\.\d+\.\d+(-[\w.-]+)?$/;

const textOf = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

/** A version before a release counts only for whoever runs one. */
function isNewer(version: string, current: string): boolean {
  if (version.includes("-") && !current.includes("-")) return false;
  return Bun.semver.order(version, current) > 0;
}
