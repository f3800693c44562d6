import type { Command } from "commander";
import { RELEASES_URL, VERSION } from "../../src/version.ts";
import { newerReleases, type Release } from "../client/releases.ts";
import { type Invocation, onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { parseWebUrl } from "../environment.ts";
import { usage } from "../failure.ts";
import { printableLines } from "../format/printable.ts";
import { withExamples, withNotes } from "../help/manual.ts";

interface Flags {
  readonly check?: boolean;
  readonly index?: string;
}

/** Lines of what is new that are shown of one release. */
const MAX_LINES = 20;
/** A build that names no index asks nobody. */
const NO_INDEX =
  "this build names no index of releases; give --index URL, or set SVC_RELEASES_URL (https://api.github.com/repos/OWNER/NAME/releases)";

export function defineUpgrade(command: Command, context: Context): void {
  withCommonFlags(command)
    .option("--check", "say whether there is a newer version, and what is new in it")
    .option("--index <url>", "where releases are listed (SVC_RELEASES_URL)");
  withExamples(command, "svc upgrade --check", ["svc upgrade --check --field newer", "true or false"]);
  withNotes(
    command,
    "Nothing is installed, and the index is told nothing of you. Without a network it says so, and ends with 0 all the same. docs/upgrading.md says how to upgrade and how to go back.",
  );
  onRun<Flags>(command, context, check);
}

async function check({ context, output, options }: Invocation<Flags>): Promise<void> {
  if (options.check !== true) throw usage("svc upgrade looks, and installs nothing: give --check.");
  const index = indexOf(options, context);
  const found = index === undefined ? NO_INDEX : await newerReleases(index, VERSION);
  const releases = typeof found === "string" ? [] : found;
  const [latest] = releases;
  const value = {
    current: VERSION,
    latest: latest?.version ?? (typeof found === "string" ? null : VERSION),
    newer: latest !== undefined,
    index: index?.href ?? null,
    problem: typeof found === "string" ? found : null,
    releases,
  };
  output.show(value, () => {
    if (typeof found === "string") {
      const why = index === undefined ? found : `the index of releases could not be read: ${found}`;
      output.warn(`This is svc ${VERSION}. Whether there is a newer version is not known: ${why}.`);
      return "";
    }
    return latest === undefined ? `svc ${VERSION} is the newest version.\n` : `${textOf(releases)}\n`;
  });
}

function indexOf({ index }: Flags, { env }: Context): URL | undefined {
  const text = index ?? (env.SVC_RELEASES_URL || RELEASES_URL);
  if (text === undefined) return undefined;
  const url = parseWebUrl(text);
  if (url !== null && url.username + url.password === "") return url;
  throw usage(`"${text.slice(0, 80)}" is not the address of an index of releases.`);
}

function textOf(releases: readonly Release[]): string {
  const parts = releases.map(({ version, published_at: at, url, notes }) => {
    const lines = printableLines(notes).split("\n");
    const more = lines.length > MAX_LINES ? ["…"] : [];
    const head = `svc ${version}${at === null ? "" : ` (${at.slice(0, 10)})`}${url === null ? "" : `  ${url}`}`;
    return [printableLines(head), ...lines.slice(0, MAX_LINES), ...more].join("\n").trimEnd();
  });
  return `This is svc ${VERSION}. Newer:\n\n${parts.join("\n\n")}`;
}
