import { basename } from "node:path";
import type { Command } from "commander";
import type { JsonObject } from "../../src/domain/json.ts";
import { textOf } from "../client/lenient.ts";
import { listPages, type PageFlags, withPageFlags } from "../client/pages.ts";
import { addRemoteCommand, connect, type RemoteFlags } from "../client/remote.ts";
import { addCommands, given, onRun } from "../command.ts";
import { asksFirst, confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { fileReader } from "../flags/request.ts";
import { column } from "../format/table.ts";
import { formatSize, formatTime } from "../format/units.ts";
import { withExamples, withNotes } from "../help/manual.ts";

const COLUMNS = [
  ...[column.id("FILE"), column.word("NAME", 4), column.word("TYPE", 1), column.number("SIZE", 2)],
  ...[column.word("CREATED", 5), column.word("EXPIRES", 3)],
];

const FILES = { upload: addUpload, list: addList, delete: addDelete };

export function defineFiles(files: Command, context: Context, [word]: readonly string[]): void {
  addCommands(files, context, FILES, word);
}

function addUpload(files: Command, context: Context): void {
  const command = addRemoteCommand(
    files,
    "upload <file>",
    "upload a file, and print its address for later tasks",
  ).option("--name <name>", "what to call it (default the file's own name)");
  withExamples(command, "svc files upload photo.jpg", 'svc files upload - --name "the cat" <photo.jpg');
  withNotes(
    command,
    "The address goes into any field of a task that takes a file of this kind, and so does the id. Whoever knows it may read the file. It goes after a day, unless the server keeps files for another time; tasks keep copies of their own.",
  );
  onRun<RemoteFlags & { name?: string }>(command, context, async ({ args, options, output }) => {
    const path = given(args, 0);
    const bytes = new Uint8Array(await fileReader(context)(path));
    const name = options.name ?? (path === "-" ? undefined : basename(path));
    const { client } = connect(options, context, output);
    const file = await client.upload({ bytes, name });
    output.done(`${textOf(file.id)} is there until ${timeIn(file, "expires_at")}.`);
    output.show(file, () => `${textOf(file.url)}\n`);
  });
}

function addList(files: Command, context: Context): void {
  const command = addRemoteCommand(files, "list", "list the files you uploaded, newest first");
  withPageFlags(command, "files");
  withExamples(command, "svc files list", ["svc files list --all --json", "a file a line"]);
  onRun<RemoteFlags & PageFlags>(command, context, async (invocation) => {
    const { client } = connect(invocation.options, context, invocation.output);
    await listPages(invocation, {
      command,
      columns: COLUMNS,
      async read(page) {
        const { items, next } = await client.files(page);
        return { files: items, next };
      },
      itemsOf: (page) => page.files,
      rowOf: (file) => [
        ...["id", "name", "media_type"].map((name) => textOf(file[name])),
        formatSize(Number(file.size_bytes)),
        ...["created_at", "expires_at"].map((name) => timeIn(file, name)),
      ],
      none: "No files.",
    });
  });
}

function addDelete(files: Command, context: Context): void {
  const command = addRemoteCommand(files, "delete <file>", "delete a file you uploaded");
  asksFirst(command);
  withExamples(command, "svc files delete file_5k7g…", "svc files delete file_5k7g… --yes");
  withNotes(command, "Tasks that were made of it keep their copies.");
  onRun<RemoteFlags>(command, context, async (invocation) => {
    const { args, options, output } = invocation;
    const id = given(args, 0);
    const { client } = connect(options, context, output);
    await confirm(invocation, `Delete ${id} for ever?`);
    await client.removeFile(id);
    output.done(`${id} is deleted.`);
    output.show({ deleted: id }, () => `${id}\n`);
  });
}

const timeIn = (file: JsonObject, name: string) => formatTime(Number(file[name]) * 1000);
