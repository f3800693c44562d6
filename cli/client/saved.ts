import { basename, extname } from "node:path";
import { isMediaType, MEDIA_TYPES } from "../../src/domain/media/asset.ts";
import type { Context } from "../context.ts";
import { openOnDesktop } from "../desktop.ts";
import type { Output } from "../format/output.ts";
import { formatSize } from "../format/units.ts";
import { showPath } from "../local.ts";
import type { TaskView } from "./answer.ts";
import { downloadResults, type SavedFile } from "./download.ts";
import type { Preview } from "./preview.ts";
import type { Remote } from "./remote.ts";
import type { Target } from "./target.ts";

const EXTENSIONS: readonly string[] = Object.values(MEDIA_TYPES).map(({ extension }) => extension);

/** What becomes of results. */
export interface Saving {
  readonly target: Target;
  readonly preview: Preview;
  /** Whether the first file is opened with the desktop's program for it. */
  readonly isOpened: boolean;
}

export interface SaveOptions {
  readonly task: TaskView;
  /** What the JSON form has beside the files. */
  readonly shown: object;
  readonly saving: Saving;
}

/**
 * Saves the results of a completed task, shows them, and prints where they are: a path a line, for people with its size, under --json the
 * task and its files.
 *
 * @throws Failure when a result cannot be fetched or written
 */
export async function saveResults(
  remote: Remote,
  context: Context,
  output: Output,
  { task, shown, saving }: SaveOptions,
): Promise<void> {
  const { cwd, stdout } = context;
  const { target, preview, isOpened } = saving;
  const files = await downloadResults(remote, task, target, stdout);
  if (target.kind === "stdout") return;
  for (const file of files) warnOfName(file, output);
  await preview.show(files.map(({ path }) => path));
  const forms = files.map(({ path, url, sizeBytes }) => ({ path, url, size_bytes: sizeBytes }));
  output.show({ ...shown, files: forms }, () =>
    files
      .map(({ path, sizeBytes }) => {
        const name = showPath(path, cwd);
        return output.mode === "pretty" ? `saved ${name} (${formatSize(sizeBytes)})\n` : `${name}\n`;
      })
      .join(""),
  );
  const [first] = files;
  if (isOpened && first !== undefined) await openOnDesktop(first.path, context, output);
}

/** A file keeps the name that its user gave it; programs may go by that. */
function warnOfName({ path, contentType = "" }: SavedFile, output: Output): void {
  if (!isMediaType(contentType)) return;
  const named = extname(path).slice(1).toLowerCase().replace("jpeg", "jpg");
  const { extension } = MEDIA_TYPES[contentType];
  if (named === extension || !EXTENSIONS.includes(named)) return;
  const formats = "Models with a parameter output_format make another one: -i output_format=…";
  output.warn(`${basename(path)} holds ${contentType}, whatever its name says. ${formats}`);
}
