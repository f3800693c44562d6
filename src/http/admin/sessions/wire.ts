import { closed, component, list, text } from "../../wire/schema.ts";
import { idOf, unixSeconds } from "../../wire/values.ts";
import { contract } from "../contract.ts";

const FIELDS = {
  id: idOf("ses", "Id of the session."),
  state: text("`link`: it waits for its browser.", { enum: ["link", "open"] }),
  role: text("Whose screens it has.", { enum: ["tenant", "operator"] }),
  holder: closed(
    { id: text("Its id."), name: text("What it was called when the session began.") },
    { description: "The key or token that it acts as." },
  ),
  created_at: unixSeconds("When it was made."),
  expires_at: unixSeconds("When it ends."),
};
const SESSION = component("ManagedSession", FIELDS);
const LINK = component("ConsoleLink", {
  ...FIELDS,
  url: text("Opens the console once. Shown this once.", { format: "uri" }),
});

export const SESSIONS = {
  list: contract("listSessions", "List sessions of the console", closed({ sessions: list(SESSION) })),
  create: contract("createConsoleLink", "Make a link to the console", LINK, {
    description:
      "It works once, within 30 minutes, for whoever has it. The session may do what the token that asks may, through a token of its own that nobody is told.",
    errors: ["permission_denied"],
  }),
  end: contract("endSession", "End a session of the console", closed({ id: idOf("ses", "It is over.") }), {
    errors: ["not_found"],
    path: { id: idOf("ses", "The session, or the link.") },
  }),
};
