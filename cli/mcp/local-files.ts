import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isJsonObject, type Json, type JsonObject } from "../../src/domain/json.ts";
import { MAX_INPUT_BYTES } from "../../src/domain/limits.ts";
import { reasonOf } from "../../src/toolkit/system-error.ts";
import { sniffMediaType } from "../flags/inputs.ts";

/** A message with the server's names for the files in it; or the result that the agent gets in place of an answer. */
export interface Taken {
  readonly message: JsonObject;
  readonly refusal?: JsonObject | undefined;
}

/** The files of this machine that an agent may name in place of an address. */
export interface LocalFiles {
  take(message: JsonObject): Promise<Taken>;
  /** The list of tools, which says that files may be named. */
  describe(result: JsonObject): JsonObject;
}

interface NamedFile {
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the same file must have the same name at the server each time, because a repeated call is compared with the first. */
  readonly isRepeatable: boolean;
}

export interface LocalFilesOptions {
  /** Folders below which files may be named; none: no file may. */
  readonly folders: readonly string[];
  /** Gives a file to the server. @returns its name there */
  readonly upload: (file: NamedFile) => Promise<string>;
}

/** The arguments of tools that name media. */
const MEDIA = /^(?:images|mask)$|_urls?$/;
/** An address, of any scheme; a drive of Windows has one letter. */
const ADDRESS = /^[A-Za-z][A-Za-z0-9+.-]+:/;
const ID = /^(?:task|file)_[0-9a-z]{26}(?:#\d+)?$/;
const MOST_BYTES = Math.max(...Object.values(MAX_INPUT_BYTES));

/** Why a file is not read. Its text is for the agent. */
class Unreadable extends Error {}

/**
 * Somebody may trick an agent into naming any file. So only files below the folders that its owner gave are read, wherever links
 * lead, and only pictures, videos and recordings.
 */
export function createLocalFiles({ folders, upload }: LocalFilesOptions): LocalFiles {
  const roots = folders.map((folder) => realpathSync(folder));
  const read = (given: string) => {
    const path = pathOf(given, roots[0]);
    if (roots.length === 0)
      throw new Unreadable(
        `${given} is a file, and no files may be read: start \`svc mcp\` with --allow-files FOLDER.`,
      );
    return { path, bytes: bytesOf(path, roots) };
  };
  const replace = async (value: Json, isRepeatable: boolean): Promise<Json> => {
    if (typeof value !== "string" || !isPath(value)) return value;
    return upload({ ...read(value), isRepeatable });
  };
  return {
    async take(message) {
      const { params } = message;
      const args = isJsonObject(params) ? params.arguments : undefined;
      if (message.method !== "tools/call" || !isJsonObject(params) || !isJsonObject(args)) return { message };
      const replaced: Record<string, Json | undefined> = { ...args };
      const isRepeatable = (args.idempotency_key ?? undefined) !== undefined;
      for (const [name, value] of Object.entries(args)) {
        if (!MEDIA.test(name) || value === undefined) continue;
        try {
          replaced[name] = Array.isArray(value)
            ? await Promise.all(value.map((each) => replace(each, isRepeatable)))
            : await replace(value, isRepeatable);
        } catch (error) {
          if (error instanceof Unreadable) return { message, refusal: refusalOf(name, error.message) };
          throw error;
        }
      }
      return { message: { ...message, params: { ...params, arguments: replaced } } };
    },
    describe: (result) => (roots.length === 0 ? result : withPaths(result, folders)),
  };
}

function isPath(value: string): boolean {
  return value.startsWith("file:") || !(ADDRESS.test(value) || ID.test(value));
}

function pathOf(given: string, root: string | undefined): string {
  try {
    const path = given.startsWith("file:") ? fileURLToPath(given) : given;
    return isAbsolute(path) ? path : resolve(root ?? ".", path);
  } catch {
    throw new Unreadable(`${given} names no file of this machine.`);
  }
}

function bytesOf(path: string, roots: readonly string[]): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const real = realpathSync(path);
    if (!roots.some((root) => real.startsWith(root.endsWith(sep) ? root : root + sep)))
      throw new Unreadable(`${path} is not below a folder that --allow-files names.`);
    const { size, isFile } = ((found) => ({ size: found.size, isFile: found.isFile() }))(statSync(real));
    if (!isFile) throw new Unreadable(`${path} is no file.`);
    if (size > MOST_BYTES) throw new Unreadable(`${path} is larger than ${MOST_BYTES} bytes.`);
    bytes = new Uint8Array(readFileSync(real));
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable(`${path} cannot be read: ${reasonOf(error)}.`);
  }
  if (sniffMediaType(bytes) !== undefined) return bytes;
  throw new Unreadable(`${path} is no image, video or recording.`);
}

/** In the form that the server's own refusals have. */
function refusalOf(param: string, message: string): JsonObject {
  const error = { code: "file_not_readable", message, param };
  return { content: [{ type: "text", text: JSON.stringify({ error }) }], isError: true };
}

function withPaths(result: JsonObject, folders: readonly string[]): JsonObject {
  const { tools } = result;
  if (!Array.isArray(tools)) return result;
  return { ...result, tools: tools.map((tool) => (isJsonObject(tool) ? withPath(tool, folders) : tool)) };
}

function withPath(tool: JsonObject, folders: readonly string[]): JsonObject {
  const { inputSchema } = tool;
  const properties = isJsonObject(inputSchema) ? inputSchema.properties : undefined;
  if (!isJsonObject(inputSchema) || !isJsonObject(properties)) return tool;
  const note = `Or the path of a file below ${folders.join(" or ")}.`;
  const told = Object.entries(properties).map(([name, property]) => {
    if (!MEDIA.test(name) || !isJsonObject(property)) return [name, property] as const;
    return [name, { ...property, description: `${property.description ?? ""} ${note}`.trim() }] as const;
  });
  return { ...tool, inputSchema: { ...inputSchema, properties: Object.fromEntries(told) } };
}
