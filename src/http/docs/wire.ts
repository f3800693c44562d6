import { contract, jsonAnswer } from "../openapi/contract.ts";
import { component, text } from "../wire/schema.ts";

const CACHED = ["ETag", "Cache-Control"] as const;

export const READ_OPENAPI = contract("readOpenApi", "Service", "This description", {
  headers: { "If-None-Match": text("An `ETag` that is known already.") },
  answers: {
    200: jsonAnswer("An OpenAPI 3.1 document.", { type: "object", additionalProperties: true }, CACHED),
    304: { description: "It is known already.", headers: CACHED },
  },
  errors: ["invalid_request"],
});

const ROOT = component("Service", {
  name: text("Of the program."),
  version: text("Of the program, and of this description."),
  docs: text("Path of this description as a page."),
  openapi: text("Path of this description."),
});

export const READ_ROOT = contract("readRoot", "Service", "What this is, and where it is described", {
  description:
    "Leads those who ask for `text/html` to the console, or gives them a page where that is off; JSON for all others.",
  answers: {
    200: {
      description: "Name, version and where to go on.",
      content: { "application/json": ROOT, "text/html": {} },
    },
    302: { description: "To the console.", headers: ["Location"] },
  },
});

export const READ_DOCS = contract("readDocs", "Service", "This description as a page", {
  answers: {
    200: { description: "A page that loads nothing from elsewhere.", content: { "text/html": {} } },
  },
});

export const READ_CLIENTS = contract("readClients", "Service", "How programs are told of this service", {
  answers: {
    200: { description: "A page with settings and code to copy.", content: { "text/html": {} } },
  },
});

export const READ_DOCS_FILE = contract("readDocsFile", "Service", "A file of that page", {
  path: { file: text("Its name, which changes with its content.") },
  headers: { "If-None-Match": text("An `ETag` that is known already.") },
  answers: {
    200: { description: "The file.", content: { "text/javascript": {} }, headers: CACHED },
    304: { description: "It is known already.", headers: CACHED },
  },
  errors: ["not_found"],
});
