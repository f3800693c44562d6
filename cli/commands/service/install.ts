import { existsSync, mkdirSync } from "node:fs";
import type { Command } from "commander";
import { VERSION } from "../../../src/version.ts";
import { quoted } from "../../again.ts";
import { type Invocation, onRun } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit-codes.ts";
import { Failure, usage } from "../../failure.ts";
import { withExamples, withExits, withNotes } from "../../help/manual.ts";
import { addServiceCommand } from "../../service/command.ts";
import { MODE, type ServiceFile, writeFiles } from "../../service/files.ts";
import {
  executableProblem,
  type Places,
  placesOf,
  type ServiceFlags,
  serviceOf,
} from "../../service/places.ts";
import { openSystemd, runTool, type Systemd } from "../../service/systemctl.ts";
import { ENV_FILE, isOwnFolder, renderUnit, renderUser, type Service } from "../../service/unit.ts";

const PUT_IN_PLACE = "Put it in place first: sudo install -m 755 svc /usr/local/bin/svc";

interface Flags extends ServiceFlags {
  readonly dryRun?: boolean;
  /** False with --no-start. */
  readonly start: boolean;
}

export function addInstall(service: Command, context: Context): void {
  const command = addServiceCommand(service, "install", "run the server as a service of systemd")
    .option(
      "-d, --data-dir <folder>",
      "folder for all data (default /var/lib/NAME; ~/.local/share/NAME for --user)",
    )
    .option("--executable <file>", "the program to run (default this one)")
    .option("--dry-run", "print the unit and change nothing")
    .option("--no-start", "start it at the next boot, not now")
    .option("--root <folder>", "put the files into a system's image that lies in this folder");
  withExamples(
    command,
    ["svc service install --dry-run", "look at the unit first"],
    ["svc service install", "as root"],
    ["svc service install --user", "without root"],
  );
  withNotes(
    command,
    "The service has a user of its own, may write its data folder alone, and is kept away from the rest of the machine. Settings and keys go into /etc/NAME/NAME.env (~/.config/NAME/NAME.env for --user), which is made once and never changed. To upgrade, replace the program and install again.",
  );
  withExits(command, "conflict");
  onRun<Flags>(command, context, install);
}

async function install({ context, output, options }: Invocation<Flags>): Promise<void> {
  const service = serviceOf(options, context);
  const places = placesOf(options, context);
  const files = filesOf(service, places);
  const { name, isForUser, dataDir, executable, envFile } = service;
  const facts = {
    name,
    user: isForUser,
    unit: places.unit,
    executable,
    data_dir: dataDir,
    env_file: envFile,
  };
  // In an image the program may be put in place later.
  const problem = options.root === undefined ? executableProblem(service) : undefined;
  if (options.dryRun === true) {
    if (problem !== undefined) output.warn(`${problem} ${PUT_IN_PLACE}`);
    const listed = files.map(({ path, mode, text }) => ({
      path,
      mode: mode.toString(8).padStart(4, "0"),
      text,
    }));
    output.show({ ...facts, changed: [], started: false, files: listed }, () => files[0]?.text ?? "");
    return;
  }
  const systemd = options.root === undefined ? openSystemd(isForUser, withoutSystemd(isForUser)) : undefined;
  if (systemd !== undefined && !isForUser) requireRoot();
  if (systemd !== undefined && problem !== undefined) throw usage(problem, PUT_IN_PLACE);
  const changed = writeFiles(places.root, files);
  if (systemd === undefined) await runTool(["systemctl", "--quiet", "--root", places.root, "enable", name]);
  else await enable(systemd, service, places);
  const isStarted = systemd !== undefined && options.start;
  // A server that runs already takes up a new program and new settings.
  if (isStarted) await start(systemd, service);
  output.show({ ...facts, changed, started: isStarted }, () => "");
  output.done(
    `${name} ${isStarted ? "runs, and starts" : "starts"} with ${isForUser ? "your session" : "the machine"}: ${places.unit}`,
  );
  for (const line of nextSteps(service, isStarted)) output.say(`  ${line}`);
}

function filesOf(service: Service, { unit, sysusers }: Places): ServiceFile[] {
  return [
    { path: unit, mode: MODE.readable, text: renderUnit(service, VERSION) },
    ...(sysusers === undefined ? [] : [{ path: sysusers, mode: MODE.readable, text: renderUser(service) }]),
    { path: service.envFile, mode: MODE.secret, text: ENV_FILE, isKept: true as const },
  ];
}

function withoutSystemd(isForUser: boolean): string {
  const printed = "--dry-run prints the unit";
  return isForUser ? `${printed}.` : `${printed}; --root DIR puts it into an image that systemd will run.`;
}

function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new Failure(EXIT.error, "needs_root", "A service of the whole machine is installed by root.", {
    hint: "Repeat it with sudo, or give --user for a service of your own.",
  });
}

async function enable(systemd: Systemd, service: Service, { sysusers }: Places): Promise<void> {
  const { name, dataDir } = service;
  if (sysusers !== undefined) await runTool(["systemd-sysusers", sysusers]);
  if (service.isForUser) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  else if (!isOwnFolder(service) && !existsSync(dataDir))
    await runTool(["install", "-d", "-m", "0700", "-o", name, "-g", name, dataDir]);
  await systemd.run("daemon-reload");
  await systemd.run("enable", name);
}

async function start(systemd: Systemd, { name, isForUser }: Service): Promise<void> {
  try {
    await systemd.run("restart", name);
  } catch (cause) {
    const scope = isForUser ? "--user " : "";
    const { result } = await systemd.state(name);
    throw new Failure(EXIT.error, "not_started", `${name} is installed, and does not start (${result}).`, {
      hint: `journalctl ${scope}-u ${name} -n 20 says why.`,
      cause,
    });
  }
}

function nextSteps({ name, isForUser, dataDir, envFile }: Service, isStarted: boolean): string[] {
  const admin = isForUser ? "svc" : `sudo -u ${name} svc`;
  const scope = isForUser ? "--user " : "";
  return [
    `log       journalctl ${scope}-u ${name} -f`,
    `settings  ${envFile}, or svc.yaml in ${dataDir}; then ${isForUser ? "" : "sudo "}systemctl ${scope}restart ${name}`,
    `keys      ${admin} keys create --name NAME --data-dir ${quoted(dataDir)}`,
    ...(isStarted ? [] : [`start     ${isForUser ? "" : "sudo "}systemctl ${scope}start ${name}`]),
    ...(isForUser ? ["To run it while you are not logged in: loginctl enable-linger"] : []),
  ];
}
