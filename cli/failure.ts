import { CommanderError } from "commander";
import { ConfigError } from "../src/config/problem.ts";
import { AppError } from "../src/domain/errors.ts";
import type { JsonObject } from "../src/domain/json.ts";
import { StorageError } from "../src/domain/ports/task-store.ts";
import { isSystemError, systemMessage } from "../src/toolkit/system-error.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { printable } from "./format/printable.ts";

export interface FailureDetails {
  /** What to do about it. */
  readonly hint?: string | undefined;
  readonly requestId?: string | undefined;
  /** More fields of the JSON form. */
  readonly more?: JsonObject | undefined;
  readonly cause?: unknown;
}

/** Ends a command with one message, one code and one exit code. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly hint: string | undefined;
  readonly requestId: string | undefined;
  readonly more: JsonObject | undefined;
  constructor(
    readonly exitCode: ExitCode,
    readonly code: string,
    message: string,
    details: FailureDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.hint = details.hint;
    this.requestId = details.requestId;
    this.more = details.more;
  }

  /**
   * Turns a server's refusal of a field into a mistake in the command line that names the flag, if a flag gave the field. The
   * server's message names the field.
   */
  ofField(nameOf: (field: string) => string): Failure {
    const param = this.more?.param;
    if (this.exitCode !== EXIT.rejected || typeof param !== "string") return this;
    const flag = nameOf(param);
    return flag === param ? this : usage(`${flag}: ${this.message}`);
  }

  /** The same failure with another hint and more fields of the JSON form. */
  withHint(hint: string, more: JsonObject = {}): Failure {
    const { exitCode, code, message, requestId } = this;
    return new Failure(exitCode, code, message, { hint, requestId, more: { ...this.more, ...more } });
  }
}

export function unexpectedAnswer(message: string): Failure {
  return new Failure(EXIT.error, "unexpected_answer", message);
}

export function usage(message: string, hint?: string): Failure {
  return new Failure(EXIT.usage, "usage", message, { hint });
}

/** Turns anything thrown into a Failure. `helpHint` says where to find the help of the command. */
export function toFailure(error: unknown, helpHint: string): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError) return usage(commanderMessage(error), helpHint);
  if (error instanceof ConfigError) {
    const count = error.problems.length;
    const title =
      count === 1 ? "The configuration has a problem:" : `The configuration has ${count} problems:`;
    return new Failure(EXIT.config, "config_invalid", [title, ...error.message.split("\n")].join("\n  "), {
      hint: "`svc help settings` lists every setting.",
      more: {
        problems: error.problems.map(({ where, message, suggestion }) => ({ where, message, suggestion })),
      },
    });
  }
  if (error instanceof AppError) {
    return new Failure(exitCodeOf(error), error.code, error.message, { cause: error });
  }
  if (error instanceof StorageError) return storageFailure(error);
  if (isSystemError(error)) {
    const hint = SYSTEM_HINTS[error.code];
    return new Failure(EXIT.error, "system_error", printable(systemMessage(error)), { hint, cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new Failure(EXIT.error, "error", message, { hint: schemaHint(error), cause: error });
}

/** Of a SchemaError, which the store throws and commands may not import. */
function schemaHint(error: unknown): string | undefined {
  const isPending = error instanceof Error && error.name === "SchemaError" && "kind" in error;
  if (!isPending || error.kind !== "pending") return undefined;
  return "`svc migrate` applies them, while no server runs on the folder; `svc serve` does at its start.";
}

const SYSTEM_HINTS: Readonly<Record<string, string>> = {
  EACCES: "Change its owner or its rights, or choose another place.",
  EPERM: "Change its owner or its rights, or choose another place.",
  ENOSPC: "Free some space there, and repeat the command.",
  EROFS: "Choose another place.",
  EMFILE: "Raise the limit: `ulimit -n`.",
};

const STORAGE_HINTS: Readonly<Record<StorageError["kind"], string | undefined>> = {
  full: "Free some space on the disk of the data folder, and repeat the command.",
  read_only:
    "See whether this user owns the data folder and its svc.db, svc.db-wal and svc.db-shm, and may write them, and whether its file system is mounted for reading alone: `svc doctor` tells. A snapshot that can only be read has to be copied first.",
  busy: "Repeat the command when it has ended.",
  away: "Repeat the command: what was done stays done.",
  damaged: "Is svc.db a database of svc? If it was one, put a copy of it from a backup in its place.",
  closed: undefined,
};

function storageFailure(error: StorageError): Failure {
  const hint = STORAGE_HINTS[error.kind];
  return new Failure(EXIT.error, `storage_${error.kind}`, error.message, { hint, cause: error });
}

/** Shows a stack only for defects of the program. */
export function stackOf(failure: Failure): string | undefined {
  const { cause } = failure;
  const isMistake =
    cause instanceof TypeError || cause instanceof RangeError || cause instanceof ReferenceError;
  return isMistake ? cause.stack : undefined;
}

/** The form of a failure under --json: `{"error": {…}}`. */
export function failureAsJson({ code, message, hint, requestId, more }: Failure): JsonObject {
  return { error: { code, message, hint, request_id: requestId, ...more } };
}

function exitCodeOf(error: AppError): ExitCode {
  if (error.code === "invalid_request") return EXIT.rejected;
  return error.code === "not_found" ? EXIT.notFound : EXIT.error;
}

/** "error: unknown option '--nam'\n(Did you mean --name?)" as one sentence or two. */
function commanderMessage(error: CommanderError): string {
  // Of arguments too many all are repeated, and one of them may be a secret.
  const parts =
    error.code === "commander.excessArguments"
      ? /^error: (.*?): .*()$/s
      : /^(?:error: )?(.*?)\.?(?:\n(.*))?$/s;
  const [, first = "", rest = ""] = parts.exec(error.message) ?? [];
  const suggestion = rest.split("\n").map((line) => /^\((.*)\)$/.exec(line)?.[1] ?? line);
  return [`${first.charAt(0).toUpperCase()}${first.slice(1)}.`, ...suggestion].join(" ").trimEnd();
}
