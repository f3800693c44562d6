import type { Restored } from "../../../src/app/restore-local.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { Failure } from "../../failure.ts";
import type { Output } from "../../format/output.ts";
import { printable } from "../../format/printable.ts";

/** What is told of a backup. */
export type BackupSummary = Omit<Restored, "ended" | "live">;

/** Most files that a message names. */
const NAMED = 5;

/** A backup as JSON has it. */
export function backupForm(backup: BackupSummary) {
  const { files, sizeBytes, missing, madeAtMs, svc, migrations, latestMigration, leftOut, found } = backup;
  return {
    made_at: new Date(madeAtMs).toISOString(),
    svc,
    schema: { migrations, latest: latestMigration },
    files,
    bytes: sizeBytes,
    bucket: backup.bucket === undefined ? null : { ...backup.bucket },
    objects: backup.objects,
    ...(found !== undefined && {
      found_in: { ...found.bucket },
      lost_objects: found.lost,
      looked: found.unknown === undefined,
    }),
    left_out: leftOut,
    missing,
  };
}

/** Names the first files that a data folder has lost. */
export function missingText(missing: BackupSummary["missing"], verb: string): string {
  const named = missing.slice(0, NAMED).map(({ path, reason }) => `  ${path} (${reason})`);
  const rest = missing.length > NAMED ? [`  and ${missing.length - NAMED} more`] : [];
  const what =
    missing.length === 1
      ? "a file that its database names"
      : `${missing.length} files that its database names`;
  return [`${verb} ${what}:`, ...named, ...rest].join("\n");
}

/** Tells what of a backup lies in the bucket of its service, and whether it is there. @returns whether all is well */
export function tellObjects({ objects, found }: BackupSummary, output: Output): boolean {
  if (found === undefined) return true;
  const files = objects === 1 ? "1 file" : `${objects} files`;
  const where = `${found.bucket.name}/${found.bucket.prefix} at ${found.bucket.endpoint}`;
  if (found.unknown !== undefined) {
    output.warn(
      `Nobody could look into the bucket ${where}, where ${files} of it should lie: ${found.unknown}`,
    );
    return false;
  }
  if (found.lost.length === 0) {
    output.say(`In the bucket ${where} is all that should lie there: ${files}.`);
    return true;
  }
  const named = found.lost.slice(0, NAMED).map((sha256) => `\n  sha256/${sha256}`);
  const rest = found.lost.length > NAMED ? `\n  and ${found.lost.length - NAMED} more` : "";
  output.warn(
    `The bucket ${where} lacks ${found.lost.length} of ${files} that should lie there:${named.join("")}${rest}`,
  );
  return false;
}

/** By the names of errors, which commands may not import. */
const REFUSALS: Readonly<Record<string, readonly [exit: ExitCode, code: string, hint: string | undefined]>> =
  {
    BackupRefused: [EXIT.error, "backup_refused", "Nothing was written. Use another backup."],
    BackupBusy: [EXIT.conflict, "backup_busy", undefined],
    BucketTaken: [EXIT.conflict, "bucket_taken", undefined],
    S3Error: [EXIT.error, "bucket_failed", undefined],
    ForeignBackups: [EXIT.conflict, "foreign_backups", undefined],
    FolderNotEmpty: [EXIT.conflict, "folder_not_empty", undefined],
    DataDirectoryBusy: [EXIT.conflict, "server_runs", undefined],
    FolderMoved: [EXIT.conflict, "folder_moved", undefined],
    MoveError: [EXIT.conflict, "move_refused", undefined],
    CannotMove: [EXIT.conflict, "cannot_move", undefined],
    SchemaError: [EXIT.error, "schema", undefined],
  };

/** Turns what the program refuses into a failure of its own code. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = error instanceof Error ? REFUSALS[error.name] : undefined;
    if (!(error instanceof Error) || known === undefined) throw error;
    const [exitCode, code, hint] = known;
    const problems = problemsOf(error);
    const lines = problems.map(({ path, problem }) => `\n  ${printable(path)} ${problem}`);
    const message = [error.message, ...lines].join("");
    throw new Failure(exitCode, code, message, { hint, cause: error, more: { problems } });
  }
}

function problemsOf(error: Error): readonly { readonly path: string; readonly problem: string }[] {
  // Safe: only this program's own error has it, and with these fields.
  return "problems" in error ? (error.problems as { path: string; problem: string }[]) : [];
}
