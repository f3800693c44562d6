import type { Command } from "commander";
import { readConfig } from "../../src/app/settings.ts";
import type { Config } from "../../src/config/config.ts";
import { consoleLink } from "../../src/domain/access/console-session.ts";
import { noInputOption } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { givenFlags, settingOptions } from "../flags/settings.ts";
import { widthOf } from "../format/output.ts";
import { hasColour, styleFor } from "../format/style.ts";
import { withExamples, withExits, withNotes } from "../help/manual.ts";
import { renderBanner, renderReady } from "../serve/banner.ts";
import { firstKeyFile } from "../serve/first-key.ts";
import { createServerLog, describeError, type ServerLogLine } from "../serve/server-log.ts";
import { findServiceManager } from "../serve/service-manager.ts";
import { reloadOnSignal, stopOnSignals } from "../serve/stop-signals.ts";

/** What a stop takes beside the drain, at most: it listens on, ends connections, and closes its files. */
const CLOSING_MS = 20_000;

export function defineServe(command: Command, context: Context): void {
  for (const option of settingOptions()) command.addOption(option);
  command
    .option("--config <file>", "settings file instead of svc.yaml in the data folder (SVC_CONFIG)")
    .option("--no-color", "print without colours")
    .addOption(noInputOption())
    .action(() => serve(command, context));
  withExamples(command, "svc serve", "svc serve --port 8080 --data-dir /var/lib/svc", [
    "svc serve --config svc.yaml --log-format json",
    "as a service",
  ]);
  withNotes(command, "`svc help settings` lists the names in svc.yaml.");
  withExits(
    command,
    ...(["ok", "error", "usage", "config", "folderGone", "interrupted", "terminated"] as const),
  );
}

/** Runs until a signal ends it; the process exits here. */
async function serve(command: Command, context: Context): Promise<void> {
  const { config: file, color, noInput: _, ...settings } = givenFlags(command);
  const { env, cwd, stderr } = context;
  const readSettings = () => readConfig({ flags: settings, env, file, cwd, isServing: true });
  const config = readSettings();
  const log = createServerLog(config, context);
  endOnMistakes(log);
  const manager = await findServiceManager(env, (message) => log("warn", {}, message));

  const { createApp } = await import("../../src/app/app.ts");
  const { DataFolderGone } = await import("../../src/app/rooms.ts");
  // Print the first key only on a terminal, where a person reads it; never into a supervisor's log.
  const isForPeople = stderr.isTerminal && config.log.format !== "json";
  const keyFile = firstKeyFile(config.dataDir);
  const app = createApp(config, {
    isColoured: hasColour(context, stderr, { color }),
    readSettings,
    firstKeyKeeper: keyFile,
    wantsConsoleLink: isForPeople,
    onFatal: (error) => {
      if (error instanceof DataFolderGone) {
        log("error", { data_dir: config.dataDir }, error.message);
        process.exit(EXIT.folderGone);
      }
      log("error", { err: describeError(error) }, "the service cannot go on");
      process.exit(EXIT.error);
    },
  });
  const ended = stopOnSignals(app, log, () => manager.stopping(config.scheduler.drainMs + CLOSING_MS));
  const reloadWith = reloadOnSignal();
  const started = await app.start().catch(async (error: unknown) => {
    throw await explain(error, config);
  });
  const told = (error: unknown) =>
    log("error", { err: describeError(error) }, "the settings could not be read anew");
  reloadWith(() => void started.reload?.().catch(told));
  manager.ready();
  if (isForPeople) {
    const style = await styleFor(context, stderr, { color });
    const { consoleSecret: secret, urls } = started;
    const link = secret === undefined ? undefined : consoleLink(urls.api, secret);
    stderr.write(renderBanner(started, config, { cwd, style, width: widthOf(stderr), link }));
    if (started.firstKey !== undefined) keyFile.drop();
    stderr.write(renderReady(started));
  }
  if (keyFile.exists()) {
    const where = started.firstKey === undefined ? "is still in" : "was written to";
    const message = `the first API key ${where} a file; take it from there and delete the file`;
    const useless =
      "the API key in this file is of no use here; delete the file, and make a key: svc keys create --name NAME";
    if (started.isKeptKeyGood) log("info", { file: keyFile.path }, message);
    else log("warn", { file: keyFile.path }, useless);
  }
  for (const note of config.notes) log("info", {}, note);
  for (const warning of config.warnings) log("warn", {}, warning);
  process.exit(await ended);
}

/** Ends the process after an uncaught error: its memory cannot be trusted, and the next start continues from the disk. */
function endOnMistakes(log: ServerLogLine): void {
  const end = (message: string) => (error: unknown) => {
    log("error", { err: describeError(error) }, message);
    process.exit(EXIT.error);
  };
  process.on("uncaughtException", end("uncaught exception"));
  process.on("unhandledRejection", end("unhandled rejection"));
}

/** Explains an operating system error in terms of the command's settings. */
async function explain(error: unknown, config: Config): Promise<unknown> {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const ports = [config.port, config.longPort, config.metrics.address?.port].filter(
    (port): port is number => port !== undefined && port !== 0,
  );
  if (code === "EADDRINUSE") return portInUse(ports, config, error);
  if (code === "EACCES" && ports.some((port) => port < 1024)) {
    return new Failure(EXIT.error, "port_refused", "Ports below 1024 need a privilege this process lacks.", {
      hint: "Use a higher --port, and a reverse proxy in front.",
      cause: error,
    });
  }
  // A host name that cannot be resolved is one of these here, depending on what the resolver says.
  const isUnresolved = (code === "ENOENT" || code === "ENXIO") && isOfListening(error);
  if (code === "EADDRNOTAVAIL" || isUnresolved) {
    const message = `Cannot listen on ${config.host}: this machine has no such address.`;
    return new Failure(EXIT.error, "address_unknown", message, {
      hint: "--host 127.0.0.1 is for this machine alone, --host 0.0.0.0 for all its addresses.",
      cause: error,
    });
  }
  return error;
}

function isOfListening(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "listen";
}

async function portInUse(ports: readonly number[], config: Config, cause: unknown): Promise<Failure> {
  const { findPortOwner } = await import("../../src/app/port-owner.ts");
  const owned = ports
    .map((port) => ({ port, owner: findPortOwner(port) }))
    .find(({ owner }) => owner !== undefined);
  const who = owned?.owner === undefined ? "" : ` by pid ${owned.owner.pid} (${owned.owner.name})`;
  const port = owned?.port ?? (ports.length === 1 ? ports[0] : undefined);
  const { longPort, metrics } = config;
  const next = port === undefined || port >= 65_535 ? undefined : port + 1;
  const isMetrics = port !== undefined && port === metrics.address?.port;
  const flag = isMetrics ? "--metrics-address" : port === longPort ? "--long-port" : "--port";
  const host = isMetrics ? `${metrics.address?.host}:` : "";
  const free = next === undefined ? "with another one" : `${host}${next}`;
  return new Failure(EXIT.error, "port_in_use", `Port ${port ?? ports.join(" or ")} is in use${who}.`, {
    hint: `Use ${flag} ${free} or stop what uses it.`,
    cause,
  });
}
