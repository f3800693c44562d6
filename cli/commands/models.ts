import type { Command } from "commander";
import type { Local } from "../../src/app/local.ts";
import { parseCredential } from "../../src/domain/access/credential.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { managedModelForm } from "../../src/domain/model/model-form.ts";
import { connect, type RemoteFlags, withRemoteFlags } from "../client/remote.ts";
import { addCommand, addGroup, CLIENT_COMMANDS, given, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { readClientSettings } from "../environment.ts";
import { MODEL_COLUMNS, modelFields, modelInputs, modelRow } from "../format/model-view.ts";
import type { Output } from "../format/output.ts";
import { renderFields } from "../format/table.ts";
import { type LocalFlags, readLocalConfig, withLocalFlags } from "../local.ts";

const ON_A_FOLDER = `
With --data-dir or --config nothing is asked of a server: the models are those of this program, with the keys
and settings that \`svc serve\` would have here. There, and for a management token as the key, every model is
told of, and what is missing for it.
`;

type Flags = RemoteFlags & LocalFlags;

export function addModels(program: Command, context: Context): void {
  const models = addGroup(
    program,
    "models",
    CLIENT_COMMANDS,
    "what can be generated, and with which inputs",
  ).alias("model");
  addList(models, context);
  addShow(models, context);
}

function addList(models: Command, context: Context): void {
  const list = withLocalFlags(withRemoteFlags(addCommand(models, "list", "list the models")))
    .option("-a, --all", "also those that are not available at present")
    .addHelpText("after", ON_A_FOLDER);
  onRun<Flags & { all?: boolean }>(list, context, async ({ options, output }) => {
    const every = await sourceOf(options, context, output).list();
    const isShown = (model: JsonObject) =>
      options.all === true || model.routes !== undefined || model.available !== false;
    const shown = every.filter(isShown);
    await output.list({ models: shown }, MODEL_COLUMNS, shown.map(modelRow));
    const hidden = every.length - shown.length;
    if (hidden > 0) output.say(`${hidden} more are not available at present; --all lists them.`);
  });
}

function addShow(models: Command, context: Context): void {
  const show = withLocalFlags(
    withRemoteFlags(addCommand(models, "show <model>", "show a model and the fields it takes")),
  ).addHelpText("after", ON_A_FOLDER);
  onRun<Flags>(show, context, async ({ args, options, output }) => {
    const model = await sourceOf(options, context, output).read(given(args, 0));
    output.show(model, () =>
      [
        renderFields(modelFields(model), output),
        `\n${output.style.bold("FIELDS")} (* required)\n`,
        renderFields(modelInputs(model.schema), output),
      ].join(""),
    );
  });
}

/** Where models are read: a server, as a caller or an operator, or a data folder. Those with `routes` are for operators. */
interface ModelSource {
  list(): Promise<readonly JsonObject[]>;
  read(id: string): Promise<JsonObject>;
}

function sourceOf(options: Flags, context: Context, output: Output): ModelSource {
  if (options.dataDir !== undefined || options.config !== undefined) return onFolder(options, context);
  const isOperator = parseCredential(readClientSettings(options, context).key)?.kind === "management_token";
  const { client } = connect(options, context, output);
  return isOperator
    ? { list: client.managedModels, read: client.managedModel }
    : { list: client.allModels, read: client.anyModel };
}

function onFolder(options: LocalFlags, context: Context): ModelSource {
  const use = async <Result>(read: (models: ReturnType<Local["models"]>) => Result): Promise<Result> => {
    const config = readLocalConfig(options, context);
    // Loaded late: it imports the whole service.
    const { openLocal } = await import("../../src/app/local.ts");
    const local = await openLocal(config);
    try {
      return read(local.models());
    } finally {
      await local.stop();
    }
  };
  return {
    list: () => use((models) => models.list().map(managedModelForm)),
    read: (id) =>
      use((models) => {
        const found = models.read(id);
        return { ...managedModelForm(found), schema: found.model.schema };
      }),
  };
}
