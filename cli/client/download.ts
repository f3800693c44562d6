import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isMediaType, MEDIA_TYPES } from "../../src/domain/media/asset.ts";
import { reasonOf } from "../../src/toolkit/system-error.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, unexpectedAnswer } from "../failure.ts";
import { resultUrls, type TaskView } from "./answer.ts";
import type { Client } from "./client.ts";

export interface SavedFile {
  readonly path: string;
  readonly url: string;
  readonly sizeBytes: number;
}

/**
 * Saves the results of a completed task. Fetches only the URLs that the task lists. Each file appears whole or not at all.
 *
 * @param target a folder (existing, or a name ending in a slash) or a file; several results are numbered
 * @throws Failure when the task has no results, or one cannot be fetched or written
 */
export async function downloadResults(
  client: Pick<Client, "fetchFile">,
  task: TaskView,
  target: { readonly path: string; readonly cwd: string },
): Promise<SavedFile[]> {
  const urls = resultUrls(task);
  if (urls.length === 0) {
    const message = `${task.task_id} is ${task.status} and has no results to download.`;
    throw new Failure(EXIT.error, "no_results", message);
  }
  const nameFile = prepareTarget(task.task_id, target, urls.length);
  const files: SavedFile[] = [];
  for (const [index, url] of urls.entries()) {
    if (!/^https?:\/\//.test(url)) throw unexpectedAnswer(`Result ${index + 1} has no web address.`);
    files.push(await save(client, url, (extension) => nameFile(index, extension)));
  }
  return files;
}

/** The path of result `index`, with the extension of its type. */
function prepareTarget(taskId: string, { path, cwd }: { path: string; cwd: string }, count: number) {
  const absolute = resolve(cwd, path);
  const isFolder =
    /[\\/]$/.test(path) || statSync(absolute, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder) mkdirSync(absolute, { recursive: true });
  const numbered = (index: number) => (count > 1 ? `-${index + 1}` : "");
  return (index: number, extension: string): string => {
    if (isFolder) return join(absolute, `${safeName(taskId)}${numbered(index)}${extension}`);
    const own = extname(absolute);
    return join(dirname(absolute), `${basename(absolute, own)}${numbered(index)}${own || extension}`);
  };
}

async function save(
  client: Pick<Client, "fetchFile">,
  url: string,
  nameFile: (extension: string) => string,
): Promise<SavedFile> {
  const response = await client.fetchFile(url);
  const path = nameFile(extensionOf(url, response));
  const partial = join(dirname(path), `.${basename(path)}.${randomUUID()}.part`);
  try {
    const sizeBytes = await Bun.write(partial, response);
    const expected = response.headers.get("content-length");
    const isEncoded = response.headers.has("content-encoding");
    if (expected !== null && Number(expected) !== sizeBytes && !isEncoded)
      throw new Error(`${sizeBytes} of ${expected} bytes arrived`);
    renameSync(partial, path);
    return { path, url, sizeBytes };
  } catch (error) {
    rmSync(partial, { force: true });
    const reason = reasonOf(error);
    const message = `Cannot save ${url} as ${path}: ${reason}.`;
    throw new Failure(EXIT.error, "download_failed", message, { cause: error });
  }
}

function extensionOf(url: string, response: Response): string {
  const type = response.headers.get("content-type")?.split(";")[0]?.trim() ?? "";
  if (isMediaType(type)) return `.${MEDIA_TYPES[type].extension}`;
  return /\.[a-z0-9]{1,5}$/i.exec(new URL(url).pathname)?.[0] ?? "";
}

/** A name chosen by the server never leaves the folder. */
function safeName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}
