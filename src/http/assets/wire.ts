import { INPUT_TYPES, MEDIA_TYPES, type MediaType } from "../../domain/media/asset.ts";
import { THUMBNAIL_WIDTHS } from "../../domain/media/thumbnail.ts";
import { type Answer, contract, type EndpointContract } from "../openapi/contract.ts";
import type { HeaderName } from "../openapi/headers.ts";
import { optional, text } from "../wire/schema.ts";

const FILE_HEADERS = ["ETag", "Cache-Control", "Last-Modified", "Accept-Ranges"] as const;

// The keys of the table are the types.
const ALL_TYPES = Object.keys(MEDIA_TYPES) as MediaType[];

export const RANGE_HEADERS = {
  Range: text("One range of bytes.", { examples: ["bytes=0-1023"] }),
  "If-Range": text("The `ETag` or `Last-Modified` the range is meant for."),
  "If-None-Match": text("An `ETag` that is known already."),
};

function bytes(types: readonly MediaType[], description: string, headers: readonly HeaderName[]): Answer {
  const content = Object.fromEntries(types.map((type) => [type, {}]));
  return { description, content, headers };
}

/** The answers of a download, with these headers. */
function downloads(types: readonly MediaType[], headers: readonly HeaderName[]): EndpointContract["answers"] {
  return {
    200: bytes(types, "The file.", [...headers, "Content-Length"]),
    206: bytes(types, "The part asked for.", [...headers, "Content-Length", "Content-Range"]),
    304: { description: "It is known already.", headers },
    416: { description: "There is no such part.", headers: [...headers, "Content-Range"] },
  };
}

/** The answers of a download that needs a key, which is sent from here wherever the file is stored. */
export const ownDownloads = (types: readonly MediaType[]) => downloads(types, FILE_HEADERS);

/** The answers of a download of a result, which may be stored elsewhere. */
function resultDownloads(types: readonly MediaType[]): EndpointContract["answers"] {
  return {
    ...downloads(types, FILE_HEADERS),
    302: {
      description:
        "The file is at the address in `Location`, which ends soon: follow it each time, and keep this one.",
      headers: ["Location", "Cache-Control"],
    },
  };
}

export const READ_ASSET = contract("readAsset", "Files", "Download a file", {
  description:
    "What `result` and image URLs point at. The id is the permission: whoever knows it may read the file. The content never changes. With `w`, a smaller picture of it, in WebP.",
  path: { file: text("Id of the file, with the extension of its type.") },
  query: optional({
    w: text(
      "The width in pixels of a smaller picture, which is never larger than the original: of an image, or the first picture of a video. An SVG is answered as it is. A file without one is `not_found`.",
      { enum: THUMBNAIL_WIDTHS.map(String) },
    ),
    group: text(
      "Id of a group that the file is a result of: all its results in one picture, in WebP, with their models and by what they differ. It is `contact_sheet` of the group.",
    ),
  }),
  headers: RANGE_HEADERS,
  answers: resultDownloads(ALL_TYPES),
  errors: ["invalid_request", "not_found", "service_unavailable"],
});

export const READ_INPUT = contract("readInput", "Files", "Download an input", {
  description:
    "For providers, which get such an address for one input of one task where they fetch inputs by themselves. It is signed, and ends after one to two days.",
  path: { file: text("Names the content and the end, and is signed.") },
  headers: RANGE_HEADERS,
  answers: downloads(INPUT_TYPES, ["ETag", "Cache-Control", "Accept-Ranges"]),
  errors: ["not_found", "service_unavailable"],
});
