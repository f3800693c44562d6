import { NODE_STATES } from "../../../domain/node-form.ts";
import { closed, component, list, text } from "../../wire/schema.ts";
import { unixSeconds } from "../../wire/values.ts";
import { contract } from "../contract.ts";

export const LIST_NODES = contract(
  "listNodes",
  "The nodes that share the database",
  closed({
    nodes: list(
      component("Node", {
        id: text("Another one at each start."),
        name: text("Of its machine, unless `node_name` is set there."),
        role: text("What it does: everything, the API alone, or the work alone.", {
          enum: ["all", "api", "worker"],
        }),
        version: text("Of the program."),
        state: text(
          "A node that is draining takes no new tasks. Others have taken over from one that is gone.",
          {
            enum: [...NODE_STATES],
          },
        ),
        started_at: unixSeconds("When it started."),
        seen_at: unixSeconds("When it was heard of last, by the clock of the database."),
      }),
      { description: "By name. Those that were heard of within an hour." },
    ),
  }),
  { description: "Without a shared database there is one node: this one." },
);
