import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { sentence } from "../../../src/domain/words/say.ts";
import { addCommand, given, type Invocation, onRun, withCommonFlags } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";

interface Flags {
  readonly from?: string;
  readonly out?: string;
  readonly force?: boolean;
}

const NAME = /^[a-z][a-z0-9-]{0,31}$/;

export function addInit(providers: Command, context: Context): void {
  const about = "begin a file that describes a provider, with comments and an example";
  const command = withCommonFlags(addCommand(providers, "init <name>", about))
    .option("--from <file>", "begin it with what an OpenAPI document says (version 3; JSON or YAML)")
    .option("-o, --out <file>", "where to write it (default NAME.yaml)")
    .option("--force", "write over a file that is there");
  withExamples(command, "svc providers init bildwerk", "svc providers init bildwerk --from openapi.json");
  withNotes(
    command,
    "What had to be guessed is marked with TODO. `svc providers check NAME.yaml` tells what is wrong; a file in DATA_DIR/providers is taken up by a running server.",
  );
  withExits(command, "notFound", "conflict");
  onRun<Flags>(command, context, init);
}

async function init({ args, options, context, output }: Invocation<Flags>): Promise<void> {
  const name = given(args, 0);
  if (!NAME.test(name))
    throw usage("The name must have up to 32 lower-case letters, digits and -, and begin with a letter.");
  const file = options.out ?? `${name}.yaml`;
  const path = resolve(context.cwd, file);
  if (options.force !== true && existsSync(path))
    throw new Failure(EXIT.conflict, "exists", `${file} is there already.`, {
      hint: "Give -o FILE for another one, or --force to write over it.",
    });
  // Loaded late: it imports all that forms need.
  const { beginFormText } = await import("../../../src/app/begin-form.ts");
  const document =
    options.from === undefined ? undefined : await read(resolve(context.cwd, options.from), options.from);
  const begun = await beginFormText(name, document);
  if ("problem" in begun)
    throw new Failure(EXIT.error, "openapi_invalid", sentence(`${options.from}: ${begun.problem}`));
  await Bun.write(path, begun.text);
  const todos = begun.text.match(/# TODO/g)?.length ?? 0;
  output.show({ provider: name, file: path, todos }, () => `${file}\n`);
  output.say(`It has ${todos} places to look at, each a TODO. Then: svc providers check ${file}`);
}

async function read(path: string, file: string): Promise<string> {
  const { MOST_OPENAPI_BYTES } = await import("../../../src/app/begin-form.ts");
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new Failure(EXIT.notFound, "not_found", `There is no file ${file}.`);
  if (!found.isFile()) throw usage(`${file} is no file.`);
  if (found.size > MOST_OPENAPI_BYTES)
    throw new Failure(EXIT.error, "too_large", `${file} is larger than ${MOST_OPENAPI_BYTES} bytes.`);
  return Bun.file(path).text();
}
