import { contract } from "../openapi/contract.ts";
import { text } from "../wire/schema.ts";

const CACHED = ["ETag", "Cache-Control"] as const;
const PAGE = { description: "The page.", content: { "text/html": {} }, headers: CACHED };
const KNOWN = { description: "It is known already.", headers: CACHED };
const IF_NONE_MATCH = { "If-None-Match": text("An `ETag` that is known already.") };
const SCREEN = text("The screen that the page shows.");

export const READ_CONSOLE = contract("readConsole", "Console", "The console", {
  description:
    "A page for browsers that shows and does what this API offers. It loads nothing from elsewhere. Each of its screens has an address of its own.",
  headers: IF_NONE_MATCH,
  answers: { 200: PAGE, 304: KNOWN },
});

export const READ_CONSOLE_SCREEN = contract("readConsoleScreen", "Console", "The console at a screen", {
  path: { screen: SCREEN },
  headers: IF_NONE_MATCH,
  answers: { 200: PAGE, 304: KNOWN },
});

export const READ_CONSOLE_ITEM = contract(
  "readConsoleItem",
  "Console",
  "The console at one thing, or a file of it",
  {
    path: {
      screen: SCREEN,
      item: text("What the screen shows; the name of a file where `screen` is `assets`."),
    },
    headers: IF_NONE_MATCH,
    answers: {
      200: {
        description: "The page, or the file.",
        content: { "text/html": {}, "text/javascript": {}, "text/css": {} },
        headers: CACHED,
      },
      304: KNOWN,
    },
    errors: ["not_found"],
  },
);
