import { MEDIA_TYPES } from "../../domain/media/asset.ts";
import { type Answer, contract } from "../openapi/contract.ts";
import { text } from "../wire/schema.ts";

const FILE_HEADERS = ["ETag", "Cache-Control", "Last-Modified", "Accept-Ranges"] as const;

const bytes = (description: string, headers: Answer["headers"] = []): Answer => ({
  description,
  content: Object.fromEntries(Object.keys(MEDIA_TYPES).map((type) => [type, {}])),
  headers: [...FILE_HEADERS, "Content-Length", ...headers],
});

export const READ_ASSET = contract("readAsset", "Files", "Download a file", {
  description:
    "What `result` and image URLs point at. The id is the permission: whoever knows it may read the file. The content never changes.",
  path: { file: text("Id of the file, with the extension of its type.") },
  headers: {
    Range: text("One range of bytes.", { examples: ["bytes=0-1023"] }),
    "If-Range": text("The `ETag` or `Last-Modified` the range is meant for."),
    "If-None-Match": text("An `ETag` that is known already."),
  },
  answers: {
    200: bytes("The file."),
    206: bytes("The part asked for.", ["Content-Range"]),
    304: { description: "It is known already.", headers: FILE_HEADERS },
    416: { description: "There is no such part.", headers: [...FILE_HEADERS, "Content-Range"] },
  },
  errors: ["not_found", "service_unavailable"],
});
