import type { Command } from "commander";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { connect, type RemoteFlags, withRemoteFlags } from "../client/remote.ts";
import { addCommand, addGroup, CLIENT_COMMANDS, given, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { renderFields } from "../format/table.ts";

const COLUMNS = [
  { title: "MODEL" },
  { title: "KIND" },
  { title: "NAME" },
  { title: "MODES" },
  { title: "PRICE" },
];

export function addModels(program: Command, context: Context): void {
  const models = addGroup(
    program,
    "models",
    CLIENT_COMMANDS,
    "what can be generated, and with which inputs",
  ).alias("model");
  const list = withRemoteFlags(addCommand(models, "list", "list the models"));
  onRun<RemoteFlags>(list, context, async ({ options, output }) => {
    const { client } = connect(options, context, output);
    const found = await client.models();
    const rows = found.map((model) => [
      text(model.id),
      text(model.kind),
      text(model.name),
      texts(model.modes),
      prices(model).join(", "),
    ]);
    await output.list({ models: found }, COLUMNS, rows);
  });
  const show = withRemoteFlags(addCommand(models, "show <model>", "show a model and the fields it takes"));
  onRun<RemoteFlags>(show, context, async ({ args, options, output }) => {
    const { client } = connect(options, context, output);
    const model = await client.model(given(args, 0));
    output.show(model, () =>
      [
        renderFields(fieldsOf(model), output),
        `\n${output.style.bold("FIELDS")} (* required)\n`,
        renderFields(inputsOf(model.schema), output),
      ].join(""),
    );
  });
}

function fieldsOf(model: JsonObject): [string, string | undefined][] {
  return [
    ["model", text(model.id)],
    ["kind", text(model.kind)],
    ["name", text(model.name)],
    ["about", text(model.description)],
    ["modes", texts(model.modes)],
    ...prices(model).map((price): [string, string] => ["price", price]),
  ];
}

/** Name, type and meaning of each field of the create body. */
function inputsOf(schema: unknown): [string, string][] {
  const { properties, required } = isJsonObject(schema) ? schema : {};
  const names = Array.isArray(required) ? required : [];
  return Object.entries(isJsonObject(properties) ? properties : {}).map(([name, property]) => {
    const title = names.includes(name) ? `${name} *` : name;
    return [title, isJsonObject(property) ? describeProperty(property) : ""];
  });
}

function describeProperty({
  type,
  minimum,
  maximum,
  default: standard,
  description,
  ...rest
}: JsonObject): string {
  const choices = Array.isArray(rest.enum) ? rest.enum.join(" | ") : texts(type);
  const bounds =
    minimum === undefined && maximum === undefined
      ? ""
      : ` ${String(minimum ?? "")}…${String(maximum ?? "")}`;
  const preset = standard === undefined ? "" : `, default ${String(standard)}`;
  return `${choices}${bounds}${preset}. ${text(description)}`;
}

function prices(model: JsonObject): string[] {
  const { lines, currency, minimum, multiplier } = isJsonObject(model.price) ? model.price : {};
  if (!Array.isArray(lines)) return [];
  const priced = lines.filter(isJsonObject).map((line) => {
    const when = isJsonObject(line.when)
      ? ` at ${Object.entries(line.when)
          .map(([name, value]) => `${name} ${String(value)}`)
          .join(", ")}`
      : "";
    const many = typeof line.per === "number" ? `${line.per} × ` : "";
    const unit = text(line.unit).replace("_", " ");
    return `${text(line.amount)} ${text(currency)} per ${many}${unit}${when}`;
  });
  return [
    ...priced,
    ...(minimum === undefined ? [] : [`at least ${text(minimum)} ${text(currency)}`]),
    ...(multiplier === undefined ? [] : [`times ${text(multiplier)} for this key`]),
  ];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(value: unknown): string {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string").join(", ") : text(value);
}
