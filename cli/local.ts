import { relative } from "node:path";
import type { Command } from "commander";
import type { Local } from "../src/app/local.ts";
import type { ListedAsset } from "../src/app/local-assets.ts";
import { readConfig } from "../src/app/settings.ts";
import type { Config } from "../src/config/config.ts";
import { createSettings, variableOf } from "../src/config/settings.ts";
import { consoleLink } from "../src/domain/access/console-session.ts";
import type { JsonObject } from "../src/domain/json.ts";
import { toModel } from "./client/model.ts";
import { type Invocation, onRun } from "./command.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { Failure } from "./failure.ts";
import { withExits } from "./help/manual.ts";
import type { Files, Place } from "./manage/port.ts";

/** The data folder a command works on. */
export interface LocalFlags {
  readonly dataDir?: string;
  readonly database?: string;
  readonly config?: string;
}

/** What the action of a command on a data folder receives. */
export interface LocalInvocation<Options> extends Invocation<Options & LocalFlags> {
  /** Opens the data folder until the action ends. A server may be running on it. */
  open(): Promise<Omit<Local, "stop"> & { readonly folder: string }>;
}

/** As the API has it. */
const DEFAULT_TRAIL_PAGE = "50";

const { dataDir, database } = createSettings({ cores: 1 }, []);

export function withLocalFlags(command: Command): Command {
  command
    .option(`${dataDir.flag}`, `data folder (default ${dataDir.fallback}; ${variableOf(dataDir)})`)
    .option(
      `${database.flag}`,
      `PostgreSQL database that nodes share, instead of the folder's own (${variableOf(database)})`,
    )
    .option("--config <file>", "settings file that names the data folder (SVC_CONFIG)");
  return withExits(command, "notFound", "conflict", "config", "rejected");
}

/** Sets the action of a command on a data folder. */
export function onLocalRun<Options = unknown>(
  command: Command,
  context: Context,
  action: (invocation: LocalInvocation<Options>) => Promise<void>,
): void {
  onRun<Options & LocalFlags>(command, context, async (invocation) => {
    let local: Local | undefined;
    const open = async () => {
      const config = readLocalConfig(invocation.options, context);
      // Loaded late: it imports the whole service.
      const { openLocal } = await import("../src/app/local.ts");
      local = await openLocal(config);
      return { ...local, folder: showPlace(config, context) };
    };
    try {
      await action({ ...invocation, open });
    } finally {
      await local?.stop();
    }
  });
}

/** Opens the data folder for an administration command. */
export async function openFolder(flags: LocalFlags, context: Context): Promise<Place> {
  const config = readLocalConfig(flags, context);
  // Loaded late: it imports the whole service.
  const { openLocal } = await import("../src/app/local.ts");
  const { trailPageForm } = await import("../src/domain/access/trail.ts");
  const { servingAt } = await import("../src/app/serving.ts");
  const { manage, prices, models, trail, assets, stop } = await openLocal(config);
  const origin = config.publicUrl ?? servingAt(config.dataDir) ?? originOf(config);
  return {
    manage: {
      ...manage,
      async createConsoleLink() {
        if (!config.console) throw consoleOff();
        const { secret, session } = await manage.createConsoleLink();
        return { url: consoleLink(origin, secret), session };
      },
    },
    at: `in ${showPlace(config, context)}`,
    origin,
    async prices() {
      const opened = await prices();
      return { ...opened, schema: async (id) => (await opened.read(id)).model.schema };
    },
    async models() {
      const { managedModelForm } = await import("../src/domain/model/model-form.ts");
      return (await (await models()).list()).map((each) => toModel(managedModelForm(each)));
    },
    trail: async ({ limit = DEFAULT_TRAIL_PAGE, ...query }) =>
      trailPageForm(await trail({ ...query, limit: Number(limit) })),
    files: async () => localFiles(await assets(), config),
    async purge(account, onTask) {
      await manage.suspendAccount(account);
      return await (await assets()).purge(account, onTask);
    },
    stop,
  };
}

function consoleOff(): Failure {
  return new Failure(EXIT.config, "console_off", "The settings leave the console out.", {
    hint: "Set `console: on`, and restart the server.",
  });
}

/** Where a server on these settings is reached from this machine. */
function originOf({ publicUrl, host, port, longPort }: Config): string {
  const own: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const name = own[host] ?? host;
  return publicUrl ?? `http://${name.includes(":") ? `[${name}]` : name}:${port ?? longPort}`;
}

type LocalAssets = Awaited<ReturnType<Local["assets"]>>;

async function localFiles(assets: LocalAssets, config: Config): Promise<Files> {
  const { tryNoteLocally } = await import("../src/app/note-locally.ts");
  const object = { kind: "server", id: "files" } as const;
  return {
    async list({ limit, after }) {
      const page = await assets.list({
        limit: Number(limit),
        after: after === undefined ? undefined : Number(after),
      });
      return {
        assets: page.assets.map(assetForm),
        next: page.next === undefined ? null : String(page.next),
      };
    },
    async collect(isTrial) {
      // The command exists for a full disk, where nothing can be recorded.
      if (!isTrial) await tryNoteLocally(config, { action: "files.collect", object, after: { asked: true } });
      const contents: JsonObject[] = [];
      const onFound = (sha256: string, bytes: number) => void contents.push({ sha256, size_bytes: bytes });
      const { files, bytes, young } = await assets.collect({ isTrial, onFound });
      return { dry_run: isTrial, files, size_bytes: bytes, young, contents };
    },
    async verify(onFile) {
      await tryNoteLocally(config, { action: "files.verify", object, after: { asked: true } });
      const { files, bytes, damaged } = await assets.verify(onFile);
      return {
        ...{ files, size_bytes: bytes },
        damaged: damaged.map(({ tasks, uploads, ...each }) => ({
          ...each,
          tasks: [...tasks],
          uploads: [...uploads],
        })),
      };
    },
  };
}

function assetForm({ id, taskId, accountId, role, index, ...asset }: ListedAsset): JsonObject {
  const { sha256, sizeBytes, type, createdAt, path } = asset;
  return {
    ...{ id, task_id: taskId, account_id: accountId, role, index, sha256, size_bytes: sizeBytes },
    ...{ media_type: type, created_at: Math.floor(createdAt / 1000), path },
  };
}

export function readLocalConfig(flags: LocalFlags, { env, cwd }: Context): Config {
  const { dataDir, database } = flags;
  return readConfig({ flags: { dataDir, database }, env, file: flags.config, cwd });
}

/** Names what a command works on: the folder, or the database without its user and password. */
export function showPlace({ dataDir, database }: Config, { cwd }: Pick<Context, "cwd">): string {
  if (database === undefined) return showPath(dataDir, cwd);
  const { host, pathname } = new URL(database.reveal());
  return `the database ${host}${pathname}`;
}

/** Shows a path below the current folder as `./…`, any other in full. */
export function showPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === "" || short.startsWith("..") ? path : `./${short}`;
}
