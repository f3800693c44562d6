import { chmodSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDraft } from "../../assets/drafts.ts";
import { temporaryFolderOf } from "../../assets/fs.ts";
import { lockDirectory, lockHolder } from "../../runtime/directory-lock.ts";
import { emptyLog } from "../../store/checkpoint.ts";
import { assetsOf, databaseOf, ensureDirectory, lockDataDirectory } from "../data-folder.ts";
import { BACKUP_WORKSPACE } from "../make-backup.ts";
import type { Examined } from "./doctor.ts";
import { quoted } from "./finding.ts";
import { exposedSecrets } from "./folder.ts";

/** A problem that can be fixed without a risk: the repair loses nothing, and a start of the server would also do it. */
export interface Repair {
  /** The check that it belongs to. */
  readonly id: string;
  /** What will be done, for the person who decides. */
  readonly what: string;
  /** @throws DataDirectoryBusy when a server has started meanwhile; FolderExposed; StorageError; a system error */
  run(): Promise<void>;
}

type Seen = Pick<Examined, "findings" | "dataDir" | "config">;

/** The repairs that are possible here for the findings, in the order of execution. Changes nothing. */
export function findRepairs({ findings, dataDir, config }: Seen): Repair[] {
  if (dataDir === undefined) return [];
  const has = (id: string, status: string) =>
    findings.some((each) => each.id === id && each.status === status);
  const isShut = isClosedToOwner(dataDir);
  // Nothing can be seen in a folder that its own user may not enter.
  if (has("data_dir", "error")) return isShut ? [closeFolder(dataDir)] : [];
  if (!existsSync(dataDir)) return [makeFolder(dataDir)];
  const isOpen = isShut || has("data_dir_rights", "warn") || exposedSecrets(dataDir).length > 0;
  const rights = isOpen ? [closeFolder(dataDir)] : [];
  if (lockHolder(dataDir).isHeld) return rights;
  const isDamaged = has("database", "error") || has("schema", "error");
  return [
    ...rights,
    ...staleFiles(dataDir, assetsOf(config ?? { dataDir })),
    ...staleBackup(dataDir),
    ...(isDamaged ? [] : longLog(dataDir)),
  ];
}

/** Whether it belongs to this user, and only its permissions are in the way. */
function isClosedToOwner(dataDir: string): boolean {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & 0o700) !== 0o700;
}

function makeFolder(dataDir: string): Repair {
  return {
    id: "data_dir",
    what: `Make the data folder ${dataDir}, for this user alone.`,
    async run() {
      ensureDirectory(dataDir);
    },
  };
}

function closeFolder(dataDir: string): Repair {
  return {
    id: "data_dir_rights",
    what: `Close ${dataDir} and what svc keeps in it to other users (folders 700, files 600).`,
    async run() {
      if (isClosedToOwner(dataDir)) chmodSync(dataDir, 0o700);
      ensureDirectory(dataDir);
      // A start looks into folders that were open alone.
      for (const name of exposedSecrets(dataDir)) chmodSync(join(dataDir, name), 0o600);
    },
  };
}

/** Files that were being received when a server was killed. */
function staleFiles(dataDir: string, assets: string): Repair[] {
  const folder = temporaryFolderOf(assets);
  const names = existsSync(folder) ? readdirSync(folder).filter(isDraft) : [];
  if (names.length === 0) return [];
  const bytes = names.reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  return [
    {
      id: "data_dir",
      what: `Remove ${counted(names.length, "unfinished file")} (${bytes} bytes) that a server left in ${folder}.`,
      run: () =>
        locked(dataDir, () => {
          for (const name of names) rmSync(join(folder, name), { recursive: true, force: true });
        }),
    },
  ];
}

/** What a backup to standard output left when it was killed. */
function staleBackup(dataDir: string): Repair[] {
  const workspace = join(dataDir, BACKUP_WORKSPACE);
  if (!existsSync(workspace) || isInUse(workspace)) return [];
  return [
    {
      id: "data_dir",
      what: `Remove ${quoted(workspace)}, which a backup that was cut off left.`,
      run: () =>
        locked(dataDir, () => {
          if (!isInUse(workspace)) rmSync(workspace, { recursive: true, force: true });
        }),
    },
  ];
}

/** A backup needs no lock of the data folder, and has one of its own. */
function isInUse(workspace: string): boolean {
  const lock = join(workspace, "backup.lock");
  if (!existsSync(lock)) return false;
  const held = lockDirectory(workspace, lock);
  held?.release();
  return held === undefined;
}

function longLog(dataDir: string): Repair[] {
  const path = databaseOf({ dataDir });
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0) return [];
  return [
    {
      id: "wal",
      what: `Copy the write-ahead log of the database (${bytes} bytes) into ${path}.`,
      run: () => locked(dataDir, () => emptyLog({ path })),
    },
  ];
}

async function locked(dataDir: string, work: () => void): Promise<void> {
  const release = lockDataDirectory({ dataDir });
  try {
    work();
  } finally {
    release();
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
