import type { Command } from "commander";
import { isJsonObject } from "../../../src/domain/json.ts";
import { HARMLESS, segment } from "../../client/admin.ts";
import { collect, given, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import { type RequestFlags, readRequest } from "../../flags/request.ts";
import { widthOf } from "../../format/output.ts";
import { EXPLAINED_COLUMNS, explainedFields, explainedRows } from "../../format/route-view.ts";
import { renderFields, renderTable, renderTsv } from "../../format/table.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { addManagedCommand, connectAsOperator } from "../../manage/managed.ts";
import { choosePlace, type PlaceFlags } from "../../manage/place.ts";

interface Flags extends PlaceFlags, Omit<RequestFlags, "key"> {
  readonly routePolicy?: string;
  readonly route?: string;
  readonly ofKey?: string;
}

export function addExplain(routes: Command, context: Context): void {
  const about = "tell which way a request would take now, and why; makes nothing";
  const command = addManagedCommand(routes, "explain <model>", about)
    .option("-p, --prompt <text>", "what to make; @FILE reads it from a file, - from standard input")
    .option("-i, --input <name=value>", "another field of the model; repeatable", collect)
    .option("-n, --outputs <count>", "how many results to make")
    .option("--route-policy <policy>", "as X-Route-Policy of the request")
    .option("--route <route>", "as X-Route of the request")
    .option("--of-key <key>", "id or name of the key that would send it");
  withExamples(
    command,
    "svc routes explain flux-dev",
    ["svc routes explain flux-dev -i n=4 --json", "what each way says of it"],
    "svc routes explain flux-dev --route-policy cheapest",
  );
  withNotes(command, "It asks a running server, because only that knows rates, pauses and loads.");
  onRun<Flags>(command, context, async ({ args, options, output }) => {
    if (choosePlace(options, context) === "folder")
      throw new Failure(
        EXIT.usage,
        "needs_server",
        "Only a running server can tell which way it would take.",
        {
          hint: "Give --server URL and a management token. `svc routes list` shows what the folder knows.",
        },
      );
    const id = given(args, 0);
    const calls = connectAsOperator(options, context, output);
    const { schema } = await calls.get(`/models/${segment(id)}`);
    const { routePolicy, route, ofKey, prompt, input, outputs } = options;
    const request = await readRequest(
      { ...(prompt !== undefined && { prompt }), ...(input && { input }), ...(outputs && { outputs }) },
      context,
    );
    const { model: _, ...body } = await request.bodyFor({ id, schema: isJsonObject(schema) ? schema : {} });
    const asked = {
      ...{ model: id, request: body },
      ...(routePolicy !== undefined && { route_policy: routePolicy }),
      ...(route !== undefined && { route }),
      ...(ofKey !== undefined && { key: ofKey }),
    };
    const explained = await calls.send("POST", "/routes/explain", asked, HARMLESS);
    const rows = explainedRows(explained);
    const width = widthOf(context.stdout);
    const table =
      output.mode === "pretty"
        ? (await renderTable(EXPLAINED_COLUMNS, rows, { style: output.style, width })).text
        : renderTsv(rows);
    output.show(explained, () => renderFields(explainedFields(explained), output) + table);
  });
}
