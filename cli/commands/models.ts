import type { Command } from "commander";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { managedModelForm, publishedSchema } from "../../src/domain/model/model-form.ts";
import { createClient } from "../client/client.ts";
import { modelOf } from "../client/model.ts";
import { clientOptions } from "../client/remote.ts";
import { addCommands, given } from "../command.ts";
import type { Context } from "../context.ts";
import { unexpectedAnswer } from "../failure.ts";
import { exampleFor } from "../format/model-example.ts";
import { MODEL_COLUMNS, modelFields, modelRow } from "../format/model-view.ts";
import { toJson } from "../format/output.ts";
import { PARAMETER_COLUMNS, parameterRows } from "../format/parameters.ts";
import { renderFields } from "../format/table.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import { type LocalInvocation, onLocalRun } from "../local.ts";
import { addCallerCommand, type CallerFlags, findCaller } from "../manage/caller.ts";
import { addInit } from "./models/init.ts";

const ON_A_FOLDER =
  "With --local, --data-dir or --config the command asks no server: it lists this program's models, with the keys and settings that `svc serve` would have here. Then, and with a management token, it lists every model and what each one needs. Where there is a key too, the key is taken, unless --token or --token-file is given.";

const MODELS = { list: addList, show: addShow, schema: addSchema, init: addInit };

export function defineModels(models: Command, context: Context, [word]: readonly string[]): void {
  addCommands(models, context, MODELS, word);
}

function addList(models: Command, context: Context): void {
  const command = addCallerCommand(models, "list", "list the models").option(
    "-a, --all",
    "include models that are not available at present",
  );
  withExamples(command, "svc models list", ["svc models list --all --data-dir svc-data", "without a server"]);
  withNotes(command, ON_A_FOLDER);
  onLocalRun<CallerFlags & { all?: boolean }>(command, context, async (invocation) => {
    const { options, output } = invocation;
    const every = await (await sourceOf(invocation)).list();
    const isShown = (model: JsonObject) =>
      options.all === true || model.routes !== undefined || model.available !== false;
    const shown = every.filter(isShown);
    await output.list({ models: shown }, MODEL_COLUMNS, shown.map(modelRow));
    const hidden = every.length - shown.length;
    if (hidden > 0) output.say(`${hidden} more are not available at present; --all lists them.`);
  });
}

function addShow(models: Command, context: Context): void {
  const description = "show a model and the fields it takes";
  const command = addCallerCommand(models, "show <model>", description);
  withExamples(command, "svc models show sandbox-image");
  withNotes(command, ON_A_FOLDER);
  onLocalRun<CallerFlags>(command, context, async (invocation) => {
    const { args, output } = invocation;
    const id = given(args, 0);
    const model = await (await sourceOf(invocation)).read(id);
    const fields = renderFields(modelFields(model), output);
    const parameters = await output.table(PARAMETER_COLUMNS, parameterRows(model));
    const example = exampleFor(modelOf(model, id));
    output.show(model, () => `${fields}\n${parameters}${output.mode === "pretty" ? `\n${example}\n` : ""}`);
  });
}

function addSchema(models: Command, context: Context): void {
  const description = "print the JSON Schema of a model's requests";
  const command = addCallerCommand(models, "schema <model>", description);
  withExamples(
    command,
    "svc models schema sandbox-image",
    "svc models schema sandbox-image --field properties.size",
  );
  withNotes(command, "The schema is JSON Schema 2020-12 of the body of a create.");
  onLocalRun<CallerFlags>(command, context, async (invocation) => {
    const { args, context, output } = invocation;
    const { schema } = await (await sourceOf(invocation)).read(given(args, 0));
    if (!isJsonObject(schema)) throw unexpectedAnswer("The server gives no schema of this model.");
    output.show(schema, () => `${toJson(schema, context.stdout)}\n`);
  });
}

/** Where to read models. Those with `routes` are for operators. */
interface ModelSource {
  list(): Promise<JsonObject[]>;
  read(id: string): Promise<JsonObject>;
}

/** A data folder, or a server: as a caller, or as an operator with a management token. */
async function sourceOf(invocation: LocalInvocation<CallerFlags>): Promise<ModelSource> {
  const { context, options, output, open } = invocation;
  const caller = findCaller(options, context);
  if (caller.kind === "folder") {
    const local = await open();
    const models = await local.models();
    for (const problem of await local.modelProblems()) output.say(problem);
    return {
      list: async () => (await models.list()).map(managedModelForm),
      async read(id) {
        const found = await models.read(id);
        return { ...managedModelForm(found), schema: publishedSchema(found.model) };
      },
    };
  }
  const client = createClient(caller.settings, clientOptions(options, context, output));
  return caller.kind === "operator"
    ? { list: client.managedModels, read: client.managedModel }
    : { list: client.allModels, read: client.anyModel };
}
