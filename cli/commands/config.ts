import type { Command } from "commander";
import { readConfig } from "../../src/app/settings.ts";
import { type ConfigProblem, describeProblem, placeOfProblem } from "../../src/config/problem.ts";
import { type ShownSetting, settingForm } from "../../src/toolkit/settings/shown.ts";
import { HARMLESS } from "../client/admin.ts";
import { addCommand, addCommands, type Invocation, onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { givenFlags, withServeFlags } from "../flags/settings.ts";
import { column } from "../format/table.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, withLocalFlags } from "../local.ts";
import { connectAsOperator } from "../manage/managed.ts";
import { choosePlace, type PlaceFlags, withPlaceFlags } from "../manage/place.ts";

const CONFIG = { show: addShow, validate: addValidate, schema: addSchema, diff: addDiff, reload: addReload };

export function defineConfig(config: Command, context: Context, [word]: readonly string[]): void {
  addCommands(config, context, CONFIG, word);
}

const ALL_FLAGS =
  "Takes every flag of `svc serve`, and shows what a server that is started with them would have.";

function addShow(config: Command, context: Context): void {
  const about = "show every setting, its value and where it was given";
  const command = withServeFlags(withPlaceFlags(withCommonFlags(addCommand(config, "show", about))));
  command.option("--origin", "show on a terminal, too, where each value was given");
  withExamples(command, "svc config show --origin", "svc config show --json", [
    "svc config show --server https://svc.example.com",
    "what a running server was given",
  ]);
  withNotes(command, ALL_FLAGS, "Secrets are masked.");
  onRun<PlaceFlags & { origin?: boolean }>(command, context, async (invocation) => {
    const { output, options } = invocation;
    const settings =
      choosePlace(options, context) === "server"
        ? await settingsOfServer(invocation)
        : settingsHere(command, invocation);
    const hasOrigins = options.origin === true || output.mode !== "pretty";
    const columns = [column.text("SETTING"), column.text("VALUE"), column.text("FROM", 2)];
    const rows = settings.map((each) => {
      const shown = each.value === null ? (each.standard ?? "") : valueText(each.value);
      return [each.key, shown, ...(hasOrigins ? [originText(each, context)] : [])];
    });
    await output.list(
      { settings: settings.map(settingForm) },
      hasOrigins ? columns : columns.slice(0, 2),
      rows,
    );
  });
}

function addValidate(config: Command, context: Context): void {
  const about =
    "check the settings, their prices and their checks, and say file, line and column of what is wrong";
  const command = withLocalFlags(withCommonFlags(addCommand(config, "validate", about)));
  withExamples(
    command,
    "svc config validate --data-dir /var/lib/svc",
    "svc config validate --config new.yaml",
  );
  withNotes(
    command,
    "Changes nothing. A key's variable or file that is missing here alone is a warning; a server needs it.",
  );
  onRun<LocalFlags>(command, context, async ({ options, output }) => {
    const { env, cwd } = context;
    // Loaded late: it has the built-in models.
    const { reportSettings } = await import("../../src/app/settings-report.ts");
    const { dataDir, config: file } = options;
    const report = await reportSettings({ flags: { dataDir }, env, cwd, file });
    const problems = report.problems.filter(({ isMissing }) => isMissing !== true);
    const missing = report.problems.filter(({ isMissing }) => isMissing === true);
    const warnings = [...missing.map(describeProblem), ...report.warnings];
    const name = report.file === undefined ? null : showPath(report.file, cwd);
    const { notes } = report;
    const facts = {
      ...{ ok: problems.length === 0, file: name },
      ...{ problems: problems.map(problemForm), warnings, notes },
    };
    output.show(facts, () => {
      const lines = [
        ...problems.map((each) => `error    ${describeProblem(each)}`),
        ...warnings.map((each) => `warning  ${each}`),
        ...notes.map((each) => `note     ${each}`),
        ...(problems.length === 0 ? [`ok       ${name ?? "no settings file; all is as usual"}`] : []),
      ];
      return `${lines.join("\n")}\n`;
    });
    if (problems.length === 0) return;
    const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
    throw new Failure(EXIT.error, "config_invalid", `The settings have ${count}.`, {
      hint: "`svc help settings` lists every setting.",
    });
  });
}

function addSchema(config: Command, context: Context): void {
  const about = "print the JSON Schema of svc.yaml, with which editors complete and check it";
  const command = withCommonFlags(addCommand(config, "schema", about));
  withExamples(command, "svc config schema > svc.schema.json");
  withNotes(command, "Begin svc.yaml with this line: # yaml-language-server: $schema=svc.schema.json");
  onRun(command, context, async ({ output }) => {
    // Loaded late: it has the schema of prices.
    const { settingsSchema } = await import("../../src/app/settings-report.ts");
    const schema = settingsSchema();
    output.show(schema, () => `${JSON.stringify(schema, undefined, 2)}\n`);
  });
}

function addDiff(config: Command, context: Context): void {
  const about = "show settings that differ from their defaults, or from those of a running server";
  const command = withServeFlags(withPlaceFlags(withCommonFlags(addCommand(config, "diff", about))));
  withExamples(command, "svc config diff", [
    "svc config diff --server http://127.0.0.1:8787",
    "what a restart with the settings here would change",
  ]);
  withNotes(command, ALL_FLAGS, "Whether two secrets differ is not told.");
  onRun<PlaceFlags>(command, context, async (invocation) => {
    const { output, options } = invocation;
    const here = settingsHere(command, invocation);
    const isServer = (["server", "token", "profile"] as const).some((name) => options[name] !== undefined);
    const differences = isServer
      ? differencesBetween(here, await settingsOfServer(invocation))
      : here
          .filter(({ source }) => source !== "default")
          .map(({ key, value, standard, ...from }) => {
            return {
              key,
              here: value,
              there: standard ?? null,
              where: originText({ key, value, ...from }, context),
            };
          })
          .filter((each) => valueText(each.here) !== valueText(each.there));
    const titles = isServer ? ["HERE", "SERVER"] : ["VALUE", "DEFAULT"];
    const columns = ["SETTING", ...titles, "FROM"].map((title) => column.text(title));
    const rows = differences.map((each) => [
      each.key,
      valueText(each.here),
      valueText(each.there),
      each.where,
    ]);
    await output.list({ differences }, columns, rows);
    if (differences.length === 0)
      output.say(isServer ? "Nothing differs." : "All settings have their defaults.");
  });
}

function addReload(config: Command, context: Context): void {
  const about = "have a running server take up changed settings, as far as they need no restart";
  const command = withPlaceFlags(withCommonFlags(addCommand(config, "reload", about)));
  withExamples(command, "svc config reload", [
    "svc config reload --server https://svc.example.com",
    "says what came of it",
  ]);
  withNotes(
    command,
    "A server takes up a change of svc.yaml by itself within three seconds. On a data folder its server is sent SIGHUP; its log says what came of it.",
  );
  onRun<PlaceFlags>(command, context, async (invocation) => {
    if (choosePlace(invocation.options, context) === "folder") await reloadHere(invocation);
    else await reloadThere(invocation);
  });
}

async function reloadHere({ context, options, output }: Invocation<PlaceFlags>): Promise<void> {
  const { dataDir } = readLocalConfig(options, context);
  // Loaded late: no other command here needs it.
  const { signalReload } = await import("../../src/app/live/signal.ts");
  const pid = signalReload(dataDir);
  if (pid === undefined) {
    const message = `No server that could be told runs on ${showPath(dataDir, context.cwd)}.`;
    throw new Failure(EXIT.notFound, "no_server", message, {
      hint: "With --server and a management token it works from afar.",
    });
  }
  output.show({ pid }, () => `${pid}\n`);
  output.done(`The server (pid ${pid}) was told; its log says what came of it.`);
}

async function reloadThere({ context, options, output }: Invocation<PlaceFlags>): Promise<void> {
  const answer = await connectAsOperator(options, context, output).send(
    "POST",
    "/reload",
    undefined,
    HARMLESS,
  );
  const texts = (name: string) => (Array.isArray(answer[name]) ? answer[name].map(String) : []);
  output.show(answer, () =>
    [
      ...texts("problems").map((each) => `error    ${each}\n`),
      ...texts("changed").map((each) => `changed  ${each}\n`),
      ...texts("restart").map((each) => `restart  ${each}\n`),
    ].join(""),
  );
  if (answer.in_force === true) return;
  throw new Failure(
    EXIT.error,
    "config_invalid",
    "The settings cannot be used; those of before stay in force.",
  );
}

function settingsHere(
  command: Command,
  { context, options }: Invocation<LocalFlags>,
): readonly ShownSetting[] {
  const { env, cwd } = context;
  return readConfig({ flags: givenFlags(command), env, file: options.config, cwd }).shown();
}

async function settingsOfServer({
  context,
  options,
  output,
}: Invocation<PlaceFlags>): Promise<ShownSetting[]> {
  const { settings } = await connectAsOperator(options, context, output).get("/config");
  // What a server of another version has besides is passed over; what it lacks is shown as unset.
  const forms = (Array.isArray(settings) ? settings : []) as unknown as ReturnType<typeof settingForm>[];
  return forms.map(({ key, value, source, where, default: standard }) => {
    return { key, value, source, where: where ?? undefined, standard: standard ?? undefined };
  });
}

function differencesBetween(here: readonly ShownSetting[], there: readonly ShownSetting[]) {
  const keys = [...new Set([...here, ...there].map(({ key }) => key))];
  return keys.flatMap((key) => {
    const [one, other] = [here, there].map((all) => all.find((each) => each.key === key));
    const [mine, theirs] = [one?.value ?? null, other?.value ?? null];
    if (JSON.stringify(mine) === JSON.stringify(theirs)) return [];
    return [{ key, here: mine, there: theirs, where: one?.where ?? one?.source ?? "default" }];
  });
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && value.every((each) => typeof each !== "object")) return value.join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

function originText(
  { source, where }: Pick<ShownSetting, "source" | "where" | "key" | "value">,
  { cwd }: Context,
): string {
  if (where === undefined) return source;
  return source === "file" ? showPath(where, cwd) : where;
}

function problemForm(problem: ConfigProblem) {
  const { file = null, line = null, column: at = null, key = null } = placeOfProblem(problem);
  const { message, suggestion = null } = problem;
  return { file, line, column: at, key, message, suggestion };
}
