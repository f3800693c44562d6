import { MAX_FILE_NAME, MAX_INPUT_BYTES, MAX_LIST_LIMIT } from "../../domain/limits.ts";
import { INPUT_TYPES } from "../../domain/media/asset.ts";
import { contract, succeeds } from "../openapi/contract.ts";
import { closed, component, integer, list, nullable, optional, type Schema, text } from "../wire/schema.ts";
import { idOf, unixSeconds } from "../wire/values.ts";

const FILE_ID = idOf("file", "Id of the file.");
const MIB = 1024 * 1024;
const LIMITS = Object.entries(MAX_INPUT_BYTES).map(([kind, bytes]) => `${bytes / MIB} MiB for ${kind}`);
const NOT_FOUND = "A file that is unknown, has expired, or is another account's, is not there.";

const FILE = component("UploadedFile", {
  id: FILE_ID,
  url: text(
    "Where the file can be read without a key, and what a create takes in any field for a file of its kind.",
    { format: "uri" },
  ),
  name: nullable(text("What the upload called it.")),
  media_type: text("What the content is.", { enum: INPUT_TYPES }),
  size_bytes: integer("As it is stored: without metadata of the original.", { minimum: 1 }),
  width: nullable(integer("Pixels; null for sound.", { minimum: 1 })),
  height: nullable(integer("Pixels; null for sound.", { minimum: 1 })),
  duration_ms: nullable(integer("Of videos and sound.", { minimum: 0 })),
  created_at: unixSeconds("When it was uploaded."),
  expires_at: unixSeconds("When it goes."),
});

const NAME: Schema = text("What to call it.", { minLength: 1, maxLength: MAX_FILE_NAME });

/** The texts of an upload's form. */
export const UPLOAD_FIELDS: Schema = optional({ name: NAME }, { additionalProperties: false });

export const UPLOAD_FILE = contract("uploadFile", "Files", "Upload a file", {
  description: `Stores a file before any task. What it is, its content says; metadata such as a location is removed. It may have ${LIMITS.join(", ")}. Uploading costs nothing. With an \`Idempotency-Key\`, the same file sent again is the same file, as long as it is there; another content or name under the key is 409. The address of the answer, or the id alone, goes into any field of a create that takes a file of this kind: the task then has a copy of its own, and the file may go. Whoever knows the address may read and use the file, as with results.`,
  query: optional({ name: { ...NAME, description: "What to call a file that is the body itself." } }),
  body: {
    "multipart/form-data": {
      title: "UploadFileForm",
      ...closed(
        {
          file: {
            type: "string",
            contentMediaType: "application/octet-stream",
            description: "The file.",
          },
          name: NAME,
        },
        { optional: ["name"] },
      ),
    },
    ...Object.fromEntries(["application/octet-stream", ...INPUT_TYPES].map((type) => [type, {}])),
  },
  isIdempotent: true,
  answers: succeeds("The file is stored.", FILE, ["X-Idempotent-Replay"]),
  errors: ["disk_low"],
});

export const READ_FILE = contract("readFile", "Files", "Read what is known of an uploaded file", {
  description: NOT_FOUND,
  path: { file_id: FILE_ID },
  answers: succeeds("The file.", FILE),
  errors: ["not_found"],
});

export const FILES_QUERY: Schema = optional({
  limit: integer("Files in the page.", { minimum: 1, maximum: MAX_LIST_LIMIT, default: 20 }),
  after: text("`next` of the page before."),
});

export const LIST_FILES = contract("listFiles", "Files", "List uploaded files, newest first", {
  query: FILES_QUERY,
  answers: succeeds(
    "One page, which may have fewer files than asked for where some have expired.",
    closed({
      files: list(FILE),
      next: nullable(text("Give as `after` for the next page; null on the last.")),
    }),
  ),
  errors: ["invalid_request"],
});

export const DELETE_FILE = contract("deleteFile", "Files", "Delete an uploaded file", {
  description: `Its address answers 404 from then on. Tasks that were made of it keep their copies. ${NOT_FOUND}`,
  path: { file_id: FILE_ID },
  answers: succeeds(
    "It is gone.",
    closed({ file_id: FILE_ID, deleted: { const: true, description: "Always `true`." } }),
  ),
  errors: ["not_found"],
});
