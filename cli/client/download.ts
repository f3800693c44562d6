import { createReadStream, existsSync, linkSync, mkdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { extname, join } from "node:path";
import { isMediaType, MEDIA_TYPES } from "../../src/domain/media/asset.ts";
import { reasonOf } from "../../src/toolkit/system-error.ts";
import type { Sink } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, unexpectedAnswer } from "../failure.ts";
import { printable } from "../format/printable.ts";
import { resultUrls, type TaskView } from "./answer.ts";
import type { Remote } from "./remote.ts";
import { checkTarget, folderOf, pathsFor, type Target, taken } from "./target.ts";
import { type ByteSink, damaged, type Transferred, transfer } from "./transfer.ts";

export interface SavedFile {
  readonly path: string;
  readonly url: string;
  readonly sizeBytes: number;
  /** As the server says it. */
  readonly contentType: string | undefined;
}

type Connection = Pick<Remote, "timing" | "signal"> & {
  readonly client: Pick<Remote["client"], "fetchFile">;
};

/**
 * Saves the results of a completed task. Fetches only the URLs that the task lists. Each file appears complete or not at all, and
 * replaces another only if the target says so.
 *
 * @returns the files; none for standard output
 * @throws Failure when the task has no results, or one cannot be fetched or written
 */
export async function downloadResults(
  remote: Connection,
  task: TaskView,
  target: Target,
  stdout: Sink,
): Promise<SavedFile[]> {
  const urls = webAddresses(task);
  const files: SavedFile[] = [];
  try {
    checkTarget(target, urls.length);
    for (const [index, url] of urls.entries()) {
      if (target.kind === "stdout") {
        await pour(remote, url, stdout);
        continue;
      }
      const result = { taskId: task.task_id, index, count: urls.length };
      const paths = (extension: string) => pathsFor(target, { ...result, extension });
      files.push(await save(remote, url, { target, paths }));
    }
    return files;
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode === EXIT.notFound) throw error;
    const again = `svc task download ${task.task_id} -o FOLDER`;
    const saved = files.map(({ path }) => path);
    throw error.withHint(`The task is done and its results stay on the server; \`${again}\` fetches them.`, {
      task_id: task.task_id,
      ...(saved.length === 0 ? {} : { saved }),
    });
  }
}

/** The web addresses of a task's results. @throws Failure when it has none, or others */
export function webAddresses(task: TaskView): string[] {
  const urls = resultUrls(task);
  if (urls.length === 0) {
    const message = `${task.task_id} is ${task.status} and has no results to download.`;
    throw new Failure(EXIT.error, "no_results", message);
  }
  for (const [index, url] of urls.entries())
    if (!/^https?:\/\//.test(url) || printable(url) !== url)
      throw unexpectedAnswer(`Result ${index + 1} has no web address.`);
  return urls;
}

/** Writes a file's bytes to standard output as they arrive. Bytes that are repeated after a lost connection are left out. */
async function pour(remote: Connection, url: string, stdout: Sink): Promise<void> {
  const hash = new Bun.CryptoHasher("sha256");
  let poured = 0;
  let at = 0;
  const { sha256 } = await fetchInto(remote, url, {
    async write(bytes) {
      const fresh = bytes.subarray(Math.min(bytes.length, Math.max(0, poured - at)));
      at += bytes.length;
      hash.update(fresh);
      if (fresh.length > 0) await stdout.writeBytes(fresh);
      poured = Math.max(poured, at);
    },
    async restart() {
      at = 0;
    },
  });
  // Written bytes cannot be taken back.
  if (hash.digest("hex") !== sha256) throw damaged(url);
}

interface Place {
  readonly target: Exclude<Target, { kind: "stdout" }>;
  /** The paths it may get, in the order they are tried. */
  readonly paths: (extension: string) => Iterable<string>;
}

async function save(remote: Connection, url: string, { target, paths }: Place): Promise<SavedFile> {
  const folder = folderOf(target);
  const place = `${url} in ${folder}`;
  await writing(place, async () => mkdirSync(folder, { recursive: true }));
  const partial = join(folder, `.${crypto.randomUUID()}.part`);
  const remove = () => rmSync(partial, { force: true });
  // A second Ctrl-C ends the process at once.
  process.on("exit", remove);
  try {
    const file = await writing(place, () => open(partial, "wx"));
    const got = await fetchInto(remote, url, fileSink(file, place)).finally(() => file.close());
    const { sizeBytes, contentType } = got;
    const path = await writing(place, () => putInPlace(partial, got, paths(extensionOf(url, got)), target));
    return { path, url, sizeBytes, contentType };
  } finally {
    remove();
    process.off("exit", remove);
  }
}

function fetchInto(
  { client, timing, signal }: Connection,
  url: string,
  sink: ByteSink,
): Promise<Transferred> {
  return transfer({ fetchPart: (part) => client.fetchFile(url, part), url, sink, timing, signal });
}

function fileSink(file: FileHandle, place: string): ByteSink {
  let at = 0;
  return {
    write: (bytes) =>
      writing(place, async () => {
        for (let done = 0; done < bytes.length; ) {
          const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at);
          done += bytesWritten;
          at += bytesWritten;
        }
      }),
    restart: () =>
      writing(place, async () => {
        at = 0;
        await file.truncate(0);
      }),
  };
}

/** Does something to a file. @param place completes "Cannot save" */
async function writing<T>(place: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Failure) throw error;
    const message = `Cannot save ${place}: ${reasonOf(error)}.`;
    throw new Failure(EXIT.error, "download_failed", message, { cause: error });
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Gives a whole file the first of these names that is free. @returns its path */
async function putInPlace(
  partial: string,
  { sha256 }: Transferred,
  paths: Iterable<string>,
  target: Place["target"],
): Promise<string> {
  let last = "";
  for (const path of paths) {
    last = path;
    if (target.mayReplace) {
      renameSync(partial, behindLinks(path));
      return path;
    }
    if (linkIfFree(partial, path)) return path;
    // If a file is named by its task and has the same content, it is the same result.
    const isOfTask = target.kind === "folder" && target.stem === undefined;
    if (isOfTask && (await hashOf(path)) === sha256) return path;
  }
  throw taken(last);
}

/** Two commands may look for a name at the same time; only one makes the link. */
function linkIfFree(partial: string, path: string): boolean {
  try {
    linkSync(partial, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST" || existsSync(path)) return false;
    // Some file systems have no links.
    renameSync(partial, path);
    return true;
  }
}

/** The file itself where the path is a link to it. */
function behindLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Nothing is there.
    return path;
  }
}

async function hashOf(path: string): Promise<string | undefined> {
  const hash = new Bun.CryptoHasher("sha256");
  try {
    for await (const bytes of createReadStream(path)) hash.update(bytes);
    return hash.digest("hex");
  } catch {
    // A folder, or an unreadable file, counts as different content.
    return undefined;
  }
}

const EXTENSIONS: readonly string[] = Object.values(MEDIA_TYPES).map(({ extension }) => `.${extension}`);

/** None but those of media: a desktop runs files by others, and `--open` would have it do so. */
function extensionOf(url: string, { contentType = "" }: Transferred): string {
  if (isMediaType(contentType)) return `.${MEDIA_TYPES[contentType].extension}`;
  const given = extname(new URL(url).pathname).toLowerCase();
  return EXTENSIONS.includes(given) ? given : "";
}
