import { INPUT_TYPES } from "../../../domain/media/asset.ts";
import { ownDownloads, RANGE_HEADERS } from "../../assets/wire.ts";
import { contract, jsonAnswer } from "../../openapi/contract.ts";
import { type Schema, text } from "../../wire/schema.ts";
import { idOf } from "../../wire/values.ts";
import { FILE, pageSchema } from "./schemas.ts";

const TAG = "Replicate predictions";

const BODY: Schema = {
  title: "CreateReplicateFile",
  type: "object",
  required: ["content"],
  properties: {
    content: {
      type: "string",
      contentMediaType: "application/octet-stream",
      description: "A picture, a film or sound.",
    },
    metadata: {
      type: "string",
      contentMediaType: "application/json",
      description: "An object that the answer repeats.",
    },
    filename: text("What the file is called."),
  },
  additionalProperties: true,
};

const PATH = { file_id: idOf("file", "Id of the file.") };

export const CREATE_INPUT_FILE = contract("createReplicateFile", TAG, "Upload a file", {
  description: "Its `urls.get` stands for it in inputs of predictions.",
  body: { "multipart/form-data": BODY },
  answers: { 201: jsonAnswer("The file.", FILE) },
  errors: ["invalid_request", "request_too_large", "disk_low", "rate_limit_exceeded"],
});

export const LIST_INPUT_FILES = contract("listReplicateFiles", TAG, "List files", {
  query: { type: "object", properties: { cursor: text("From `next`.") } },
  answers: { 200: jsonAnswer("One page, of 100.", pageSchema(FILE)) },
  errors: ["invalid_request"],
});

export const READ_INPUT_FILE = contract("readReplicateFile", TAG, "Read a file", {
  path: PATH,
  answers: { 200: jsonAnswer("The file.", FILE) },
  errors: ["not_found"],
});

export const DELETE_INPUT_FILE = contract("deleteReplicateFile", TAG, "Delete a file", {
  path: PATH,
  answers: { 204: { description: "It is gone." } },
  errors: ["not_found"],
});

export const DOWNLOAD_INPUT_FILE = contract("downloadReplicateFile", TAG, "Download an uploaded file", {
  path: PATH,
  headers: RANGE_HEADERS,
  answers: ownDownloads(INPUT_TYPES),
  errors: ["not_found", "service_unavailable"],
});
