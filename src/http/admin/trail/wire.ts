import { TRAIL_ACTIONS, TRAIL_OBJECTS } from "../../../domain/access/trail.ts";
import {
  closed,
  component,
  integer,
  list,
  nullable,
  openEnum,
  optional,
  type Schema,
  text,
} from "../../wire/schema.ts";
import { unixSeconds } from "../../wire/values.ts";
import { contract, NOT_FOUND } from "../contract.ts";

/** Entries in a page unless said otherwise. */
export const DEFAULT_PAGE = 50;
const MAX_PAGE = 100;

const ACTIONS = Object.keys(TRAIL_ACTIONS);
const MEANINGS = Object.entries(TRAIL_ACTIONS).map(([action, meaning]) => `\`${action}\`: ${meaning}`);
const MOMENT = "an ISO 8601 date or time, or Unix seconds";

/** Which entries are listed. */
export const TRAIL_QUERY = optional({
  actor: text("Id or name of a token; or `local`, `file` or `system`.", { maxLength: 200 }),
  action: text("Entries of one action.", { enum: ACTIONS }),
  object: text("Id of what was changed; or the name of an account, a key or a token.", { maxLength: 500 }),
  since: text(`Noted then or later: ${MOMENT}.`),
  until: text(`Noted before: ${MOMENT}.`),
  limit: integer("Entries in the page.", { minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE }),
  after: text("`next` of the page before."),
});

const CHANGED = (description: string): Schema =>
  nullable({ type: "object", additionalProperties: true, description });

const ENTRY = component("TrailEntry", {
  number: integer("Later entries have higher numbers."),
  at: unixSeconds("When it was done."),
  actor: closed(
    {
      kind: openEnum(
        ["token", "local", "file", "system"],
        "`token`: over HTTP. `local`: a command on the data folder. `file`: the settings file. `system`: the service itself.",
      ),
      id: nullable(text("The token's.")),
      name: nullable(text("Of the token, or of the machine's user; as it was then.")),
    },
    { description: "Who did it." },
  ),
  action: openEnum(ACTIONS, MEANINGS.join("\n\n")),
  object: closed(
    {
      kind: openEnum(TRAIL_OBJECTS, "What it is."),
      id: text("Its id; of a route the lane, and after a colon the provider's name for the model."),
      name: nullable(text("As it was called then.")),
    },
    { description: "What was changed." },
  ),
  before: CHANGED("What changed, as it was; null where there was nothing. Never a secret."),
  after: CHANGED("What changed, as it is since; null where nothing is left. Never a secret."),
});

export const READ_TRAIL = contract(
  "readTrail",
  "Read who changed what, newest first",
  closed({
    entries: list(ENTRY),
    next: nullable(text("Cursor of the next page; null on the last one.")),
  }),
  {
    description:
      "An entry is stored with its change, and stays. Where several filters are given, a page looks at 1,000 entries at most: it can be short, even empty, and `next` leads on.",
    query: TRAIL_QUERY,
    ...NOT_FOUND,
  },
);
