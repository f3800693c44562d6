import type { Command } from "commander";
import type { JsonObject } from "../../src/domain/json.ts";
import { nodeForm } from "../../src/domain/node-form.ts";
import { addCommands, type Invocation, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { column } from "../format/table.ts";
import { formatTime } from "../format/units.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import { readLocalConfig, showPlace } from "../local.ts";
import { countIn, objectsIn, textIn } from "../manage/fields.ts";
import { addManagedCommand, connectAsOperator } from "../manage/managed.ts";
import { choosePlace, type PlaceFlags } from "../manage/place.ts";

const COLUMNS = [
  column.text("NAME"),
  column.word("ROLE"),
  column.word("STATE"),
  column.word("VERSION", 3),
  column.word("STARTED", 2),
  column.word("HEARD OF", 1),
  column.id("ID", 4),
];

export function defineNodes(nodes: Command, context: Context, [word]: readonly string[]): void {
  addCommands(nodes, context, { list: addList }, word);
}

function addList(nodes: Command, context: Context): void {
  const about = "list the nodes that share a PostgreSQL database: what each does, and how it does";
  const command = addManagedCommand(nodes, "list", about);
  withExamples(
    command,
    "svc nodes list --database postgres://svc@db.example.com/svc",
    "svc nodes list --json",
  );
  withNotes(
    command,
    "A node says every two seconds that it is there. One that was not heard of for ten is gone, and others take over its tasks.",
  );
  onRun<PlaceFlags>(command, context, async (invocation) => {
    const found = await readNodes(invocation);
    const seconds = (node: JsonObject, name: string) => formatTime(countIn(node, name) * 1000);
    const rows = found.map((node) => [
      ...["name", "role", "state", "version"].map((name) => textIn(node, name)),
      ...["started_at", "seen_at"].map((name) => seconds(node, name)),
      textIn(node, "id"),
    ]);
    await invocation.output.list({ nodes: [...found] }, COLUMNS, rows);
  });
}

async function readNodes({
  options,
  context,
  output,
}: Invocation<PlaceFlags>): Promise<readonly JsonObject[]> {
  if (choosePlace(options, context) === "server")
    return objectsIn(await connectAsOperator(options, context, output).get("/nodes"), "nodes");
  const config = readLocalConfig(options, context);
  if (config.database === undefined) {
    const message = `${showPlace(config, context)} is a folder, which one process serves.`;
    throw new Failure(EXIT.config, "no_nodes", message, {
      hint: "Name the PostgreSQL database that nodes share with --database, or a server with --server.",
    });
  }
  // Loaded late: other places need none of it.
  const { listSharedNodes } = await import("../../src/app/shared-database.ts");
  const { nodes, now } = await listSharedNodes(config.database.reveal());
  return nodes.map((node) => nodeForm(node, now));
}
