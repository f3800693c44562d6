import { MEDIA_TYPES } from "../../domain/media/asset.ts";
import type { Answer, EndpointContract } from "../openapi/contract.ts";
import { jsonAnswer } from "../wire/answer.ts";
import { closed, text } from "../wire/schema.ts";

const state = (value: string) => closed({ status: text("", { const: value }) });

export const READ_HEALTH: EndpointContract = {
  id: "readHealth",
  tag: "Service",
  summary: "Whether the process answers",
  answers: { 200: jsonAnswer("It does.", state("ok")) },
};

export const READ_READINESS: EndpointContract = {
  id: "readReadiness",
  tag: "Service",
  summary: "Whether new tasks are taken",
  answers: {
    200: jsonAnswer("They are.", state("ready")),
    503: jsonAnswer("They are not: the service starts or stops.", state("not_ready")),
  },
};

const FILE_HEADERS = ["ETag", "Cache-Control", "Last-Modified", "Accept-Ranges"] as const;

const bytes = (description: string, headers: Answer["headers"] = []): Answer => ({
  description,
  content: Object.fromEntries(Object.keys(MEDIA_TYPES).map((type) => [type, {}])),
  headers: [...FILE_HEADERS, "Content-Length", ...headers],
});

export const READ_ASSET: EndpointContract = {
  id: "readAsset",
  tag: "Files",
  summary: "Download a file",
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
};

const CACHED = ["ETag", "Cache-Control"] as const;

export const READ_OPENAPI: EndpointContract = {
  id: "readOpenApi",
  tag: "Service",
  summary: "This description",
  headers: { "If-None-Match": text("An `ETag` that is known already.") },
  answers: {
    200: jsonAnswer("An OpenAPI 3.1 document.", { type: "object", additionalProperties: true }, CACHED),
    304: { description: "It is known already.", headers: CACHED },
  },
  errors: ["invalid_request"],
};

export const READ_DOCS: EndpointContract = {
  id: "readDocs",
  tag: "Service",
  summary: "This description as a page",
  answers: {
    200: { description: "A page that loads nothing from elsewhere.", content: { "text/html": {} } },
  },
};

export const READ_DOCS_FILE: EndpointContract = {
  id: "readDocsFile",
  tag: "Service",
  summary: "A file of that page",
  path: { file: text("Its name, which changes with its content.") },
  headers: { "If-None-Match": text("An `ETag` that is known already.") },
  answers: {
    200: { description: "The file.", content: { "text/javascript": {} }, headers: CACHED },
    304: { description: "It is known already.", headers: CACHED },
  },
  errors: ["not_found"],
};
