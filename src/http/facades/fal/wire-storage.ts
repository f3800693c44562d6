import { contract, jsonAnswer, jsonBody } from "../../openapi/contract.ts";
import { closed, type Schema, text } from "../../wire/schema.ts";

const TAG = "fal";

/** What is said of a file before it comes. Its content decides what it is. */
export const UPLOAD: Schema = {
  title: "BeginFalUpload",
  type: "object",
  examples: [{ content_type: "image/png", file_name: "picture.png" }],
  properties: { content_type: text("Not looked at."), file_name: text("Not kept.") },
  additionalProperties: true,
};

const HEADERS = {
  "X-Fal-Object-Lifecycle": text(
    'JSON: `{"expiration_duration_seconds": n}` says how long the file stays at most.',
  ),
};

export const BEGIN_FAL_UPLOAD = contract("beginFalUpload", TAG, "Ask where to upload a file", {
  description: "The file's address works in every field that takes a file of its kind, once it was uploaded.",
  headers: HEADERS,
  body: jsonBody(UPLOAD),
  answers: {
    200: jsonAnswer(
      "Where to put the file within an hour, and its address.",
      closed({ upload_url: text("PUT the file here."), file_url: text("Address of the file.") }),
    ),
  },
});

export const BEGIN_FAL_PARTS = contract("beginFalParts", TAG, "Ask where to upload a file in parts", {
  description:
    "Always refused: clients of that API send files in parts that are larger than any input may be.",
  body: jsonBody(UPLOAD),
  answers: {},
});

export const SEND_FAL_UPLOAD = contract("sendFalUpload", TAG, "Upload a file", {
  description: "Needs no key: the address says whose file it is.",
  path: { ticket: text("Of the address that was given.") },
  body: { "application/octet-stream": {} },
  answers: { 200: jsonAnswer("It is stored.", closed({})) },
  errors: ["not_found", "disk_low"],
});
