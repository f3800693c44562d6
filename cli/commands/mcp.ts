import { mkdirSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Command } from "commander";
import { createClient } from "../client/client.ts";
import { createMcpSender, uploadFile } from "../client/mcp.ts";
import { clientOptions, type RemoteFlags, withRemoteFlags } from "../client/remote.ts";
import { collect, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { readClientSettings } from "../environment.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import { printable } from "../format/printable.ts";
import { withExamples, withNotes } from "../help/manual.ts";
import { createLocalFiles } from "../mcp/local-files.ts";
import { relay } from "../mcp/relay.ts";
import { createSaver } from "../mcp/saver.ts";

interface McpFlags extends RemoteFlags {
  readonly allowFiles?: readonly string[];
  readonly saveTo?: string;
}

/** How long what is under way may take once the agent has closed its end. */
const LINGER_MS = 2_000;

/** `svc mcp`: what an agent starts as a local server of the Model Context Protocol. */
export function defineMcp(command: Command, context: Context): void {
  withRemoteFlags(command)
    .option(
      "--allow-files <folder>",
      "agents may name files below this folder as inputs; repeatable; without it, no files",
      collect,
    )
    .option("--save-to <folder>", "save results in this folder, and tell the agent where; made if missing");
  withExamples(
    command,
    ["svc mcp", "what an agent's configuration starts; it ends with the agent"],
    ["svc mcp --allow-files ~/Pictures --save-to ~/Pictures/made", "with files of this machine"],
  );
  withNotes(
    command,
    "Speaks the Model Context Protocol on standard input and output, one message a line, and passes it on to /mcp of the server. Everything else it says goes to stderr. An agent can be talked into naming any file: it gets only those below --allow-files, wherever links lead, and only pictures, videos and recordings.",
  );
  onRun<McpFlags>(command, context, async ({ options, output }) => {
    const settings = readClientSettings(options, context);
    const given = clientOptions(options, context, output);
    const { timing } = given;
    // Ends what the agent no longer waits for.
    const left = new AbortController();
    const signal = AbortSignal.any([given.signal, left.signal]);
    const client = { ...given, signal };
    const remote = { client: createClient(settings, client), timing, signal };
    const folder = options.saveTo === undefined ? undefined : folderToSaveTo(options.saveTo, context);
    await relay({
      lines: context.stdin.readLines(given.signal),
      send: createMcpSender(settings, client),
      write: (message) => context.stdout.write(`${JSON.stringify(message)}\n`),
      warn: (text) => context.stderr.write(`${printable(text)}\n`),
      files: createLocalFiles({
        folders: (options.allowFiles ?? []).map((each) => folderToRead(each, context)),
        upload: ({ path, ...file }) => uploadFile(settings, client, { name: basename(path), ...file }),
      }),
      saver: folder === undefined ? undefined : createSaver(remote, folder, context.stdout),
      linger: async (underWay) => void (await Promise.race([underWay, timing.sleep(LINGER_MS, signal)])),
    });
    left.abort();
    if (given.signal.aborted) throw new Failure(EXIT.interrupted, "interrupted", "Interrupted.");
  });
}

function folderToRead(given: string, { cwd }: Context): string {
  const path = resolve(cwd, given);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return path;
  throw usage(`--allow-files ${given.slice(0, 200)} is no folder.`);
}

function folderToSaveTo(given: string, { cwd }: Context): string {
  const path = resolve(cwd, given);
  try {
    mkdirSync(path, { recursive: true });
    return path;
  } catch {
    throw usage(`--save-to ${given.slice(0, 200)} is no folder, and none can be made there.`);
  }
}
