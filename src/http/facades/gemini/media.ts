import { invalid } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { assetPath } from "../../../domain/media/asset.ts";
import { dataUriHeader } from "../../../domain/media/data-uri.ts";
import type { InlineFiles } from "../../../service/inline-files.ts";
import type { KeyedExchange } from "../../exchange.ts";
import { asObject, type Member, objectOf, textOf } from "./members.ts";
import { findOwnFile, type OwnFileDeps } from "./own-files.ts";

/** A picture or a video that a caller gave: its address, or its content as a data URI. */
export interface GivenMedia {
  readonly address: string;
  readonly path: string;
}

/** What is needed to read where media are. */
export type MediaDeps = OwnFileDeps;

/** Who asks, and what came with the request. */
export interface MediaContext extends Pick<KeyedExchange, "principal" | "origin"> {
  readonly inlineFiles: InlineFiles | undefined;
}

/** Names of content, and of addresses, in the several generations of that API. */
const CONTENTS = ["bytesBase64Encoded", "imageBytes", "encodedVideo", "videoBytes", "data"];
const ADDRESSES = ["fileUri", "gcsUri", "uri"];
const TYPES = ["mimeType", "encoding"];
/** Members that media may be within, each with what it has in every generation. */
const WITHIN = { inlineData: "data", fileData: "fileUri" } as const;

/**
 * Reads media in any of the forms that clients have for them: content in base64 with its type, or an address, which may name a file.
 * @param usual what such media have by the method's own contract
 * @throws AppError naming what is missing or cannot be read
 */
export async function readMedia(
  deps: MediaDeps,
  context: MediaContext,
  member: Member,
  usual = "bytesBase64Encoded",
): Promise<GivenMedia> {
  const given = asObject(member);
  for (const [name, own] of Object.entries(WITHIN)) {
    const inner = objectOf(given.value, name, given.path);
    if (inner !== undefined) return readOne(deps, context, inner, own);
  }
  return readOne(deps, context, given, usual);
}

async function readOne(
  deps: MediaDeps,
  context: MediaContext,
  { value, path }: { value: JsonObject; path: string },
  usual: string,
): Promise<GivenMedia> {
  for (const name of CONTENTS) {
    const content = textOf(value, name, path);
    if (content !== undefined)
      return { address: contentAddress(context, value, content.value), path: content.path };
  }
  for (const name of ADDRESSES) {
    const uri = textOf(value, name, path);
    if (uri !== undefined) return { address: await addressOf(deps, context, uri), path: uri.path };
  }
  throw invalid({ kind: "required", field: `${path}.${usual}` });
}

function contentAddress({ inlineFiles }: MediaContext, media: JsonObject, content: string): string {
  if (inlineFiles?.has(content) || dataUriHeader(content) !== undefined) return content;
  const type = TYPES.map((name) => textOf(media, name)?.value).find((each) => each !== undefined);
  return `data:${type !== undefined && /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : ""};base64,${content}`;
}

const FILE = /^(.*\/)?files\/([a-z0-9]{1,40})(?::download)?$/;

/** The address of a file that an address of this facade names; any other address as it is. */
async function addressOf(
  deps: MediaDeps,
  { principal, origin }: MediaContext,
  { value: uri, path }: { value: string; path: string },
): Promise<string> {
  // A query may be long and name files again: to look for its end at each of these would take minutes.
  const [address = ""] = uri.split("?", 1);
  const [, place = "", name] = FILE.exec(address) ?? [];
  if (name === undefined || (place !== "" && !place.startsWith(`${origin}/`))) return uri;
  const file = await findOwnFile(deps, principal, name);
  if (file === undefined) throw invalid({ kind: "stored_file_unknown", field: path });
  return origin + assetPath(file);
}
