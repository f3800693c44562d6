import type { JsonObject } from "../../domain/json.ts";

const TEXTS = { type: "array", items: { type: "string" } };
const CHECK = {
  type: "object",
  additionalProperties: false,
  properties: {
    words: { ...TEXTS, description: "words that are refused" },
    words_file: { type: "string", description: "a file with a word on each line" },
    patterns: { ...TEXTS, description: "patterns (RE2) that are refused" },
    patterns_file: { type: "string", description: "a file with a pattern on each line" },
    endpoint: { type: "string", format: "uri", description: "a moderation API that is asked" },
    key_env: { type: "string", description: "the variable that holds its key" },
    model: { type: "string" },
    categories: TEXTS,
    thresholds: { type: "object", additionalProperties: { type: "number", minimum: 0, maximum: 1 } },
    command: { ...TEXTS, minItems: 1, description: "a program that is asked, and its arguments" },
    timeout_seconds: { type: "number", minimum: 0.1, maximum: 60 },
    concurrency: { type: "integer", minimum: 1, maximum: 256 },
    on_outage: { enum: ["refuse", "allow"] },
    fields: { ...TEXTS, description: "the fields that are checked; all unless given" },
  },
};

/** What a settings file may have under `moderation`, as `readModeration` reads it. */
export const MODERATION_SCHEMA: JsonObject = {
  type: "object",
  additionalProperties: false,
  description: "checks of what callers ask for",
  properties: {
    checks: { type: "object", additionalProperties: CHECK, description: "checks by name" },
    apply: { ...TEXTS, description: "names of checks for all models and keys of which nothing else is said" },
    models: { type: "object", additionalProperties: TEXTS, description: "names of checks by model" },
  },
};
