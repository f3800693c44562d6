import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, usage } from "../failure.ts";
import { userFolder } from "../user-folder.ts";
import { isUnitPath, type Service, usualDataDir } from "./unit.ts";

/** Which service, and where its files lie. */
export interface ServiceFlags {
  readonly name?: string;
  readonly user?: boolean;
  readonly root?: string;
  readonly dataDir?: string;
  readonly executable?: string;
}

/** The files that make a service, as they are called in the system that runs it. */
export interface Places {
  /** The system's files lie below it. `/` for the system that runs now. */
  readonly root: string;
  readonly unit: string;
  /** Has systemd make the service's user; a user's own service needs none. */
  readonly sysusers: string | undefined;
}

/** Of a user's name, which it also is; 31 characters is what useradd(8) takes. */
const NAME = /^[a-z][a-z0-9-]{0,30}$/;
/** What a service for the whole machine cannot see. */
const HIDDEN = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];

export function placesOf(flags: ServiceFlags, context: Context): Places {
  const name = nameOf(flags);
  const root = resolve(context.cwd, flags.root ?? "/");
  if (flags.user !== true)
    return {
      root,
      unit: `/etc/systemd/system/${name}.service`,
      sysusers: `/etc/sysusers.d/${name}.conf`,
    };
  if (flags.root !== undefined) throw usage("--root is for services of a whole machine, not for --user.");
  return { root, unit: join(configOf(context), "systemd/user", `${name}.service`), sysusers: undefined };
}

/** @throws Failure (exit 2) for names and paths that a service cannot have */
export function serviceOf(flags: ServiceFlags, context: Context): Service {
  const name = nameOf(flags);
  const isForUser = flags.user === true;
  const usualEnv = isForUser ? join(configOf(context), name, `${name}.env`) : `/etc/${name}/${name}.env`;
  const usual = isForUser ? join(homeOf(), ".local/share", name) : usualDataDir(name);
  const service = {
    name,
    isForUser,
    executable: executableOf(flags, context),
    dataDir: flags.dataDir === undefined ? usual : resolve(context.cwd, flags.dataDir),
    envFile: usualEnv,
  };
  for (const path of [service.executable, service.dataDir, service.envFile])
    if (!isUnitPath(path)) throw usage(`${JSON.stringify(path)} cannot stand in a unit of systemd.`);
  if (service.dataDir === "/") throw usage("--data-dir / is no folder of its own.");
  if (!isForUser && isHidden(service.dataDir))
    throw usage(
      `${service.dataDir} is hidden from services of the whole machine.`,
      `Leave --data-dir out for ${usualDataDir(name)}, or give --user.`,
    );
  return service;
}

function nameOf({ name = "svc" }: ServiceFlags): string {
  if (NAME.test(name)) return name;
  throw usage(
    `"${name.slice(0, 80)}" is not a name for a service: a letter, then up to 30 of a-z, 0-9 and -.`,
  );
}

function executableOf({ executable, root }: ServiceFlags, context: Context): string {
  if (executable === undefined && !Bun.isStandaloneExecutable)
    throw usage("This is not the built executable; name it with --executable.");
  const path = executable ?? process.execPath;
  if (root === undefined || isAbsolute(path)) return resolve(context.cwd, path);
  throw usage("With --root, --executable is its path in that system, and begins with /.");
}

/** @returns why systemd cannot run the executable of a service on this machine; undefined when it can */
export function executableProblem({ executable, isForUser }: Service): string | undefined {
  if (!isProgram(executable)) return `${executable} is not a file that can be run.`;
  const real = realpathSync(executable);
  const { mode } = statSync(real);
  if ((mode & 0o002) !== 0) return `${executable} can be changed by every user of this machine.`;
  if (isForUser) return undefined;
  if (isHidden(real)) return `${executable} is hidden from services of the whole machine.`;
  if ((mode & 0o001) !== 0) return undefined;
  return `${executable} can be run by its owner alone, and the service has a user of its own.`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const isHidden = (path: string): boolean =>
  HIDDEN.some((folder) => path === folder || path.startsWith(`${folder}/`));

function configOf(context: Context): string {
  return userFolder(context, "XDG_CONFIG_HOME", ".config") ?? noHome();
}

const homeOf = (): string => homedir() || noHome();

function noHome(): never {
  throw new Failure(EXIT.error, "no_home", "This user has no home folder, which --user needs.");
}
