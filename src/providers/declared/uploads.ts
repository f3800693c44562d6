import { ProviderError, type Tracing } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { refusedBeforehand } from "../kit/classify.ts";
import { NoAnswer } from "../kit/http.ts";
import type { CompiledForm } from "./compiled-form.ts";
import type { Connection } from "./connection.ts";
import type { Scope } from "./expression.ts";
import { ExpressionError } from "./fences.ts";
import type { Files, FileValue } from "./files.ts";
import { isSuccess, type Upload } from "./flow.ts";
import { readOperation } from "./operation.ts";
import { answerScope } from "./reading.ts";

/** Uploads of inputs before a submission, each kept for as long as the upstream keeps it. */
export interface Uploads {
  /**
   * Uploads what must be, and adds to each file what its upload gave.
   *
   * @returns whether one of them was uploaded before, so that the upstream may no longer have it @throws ProviderError; nothing was submitted
   */
  prepare(uploads: readonly Upload[], files: Files, given: Given, signal: AbortSignal): Promise<boolean>;
  /** Forgets the uploads of these files. */
  forget(uploads: readonly Upload[], files: Files): void;
}

interface Given {
  readonly scope: Scope;
  readonly tracing?: Tracing | undefined;
}

interface Kept {
  readonly gifts: Readonly<Record<string, string | number>>;
  /** By the clock that never jumps. */
  readonly untilMs: number;
}

/** Most uploads that are remembered. Forgotten ones are made again. */
const MOST_KEPT = 1_000;

export function createUploads(compiled: CompiledForm, connection: Connection, clock: Clock): Uploads {
  const kept = new Map<string, Kept>();

  async function upload(
    given: Upload,
    files: Files,
    file: FileValue,
    { scope, tracing }: Given,
    signal: AbortSignal,
  ) {
    const seen = { ...scope, file };
    const body = given.isRaw ? { type: file.type, bytes: await files.contentOf(file) } : undefined;
    const answer = await connection.ask(given.call, seen, { files, tracing, ...(body && { body }) }, signal);
    const { upstream } = connection;
    if (!connection.isOk(answer)) throw refusedBeforehand(compiled.refusals.read(upstream, answer));
    const gifts = readOperation(given.gives, { ...seen, ...answerScope(answer) });
    if (gifts !== undefined) return gifts;
    throw new ProviderError(
      "retry",
      "UPSTREAM_ERROR",
      `${upstream.name}: an upload did not give what the form takes from it`,
      {
        isFailure: true,
      },
    );
  }

  return {
    async prepare(uploads, files, { scope, tracing }, signal) {
      let isReused = false;
      for (const { given, file, key } of wantedOf(uploads, files)) {
        const known = kept.get(key);
        const start = clock.elapsed();
        if (known !== undefined && start < known.untilMs) {
          isReused = true;
          files.add(file, known.gifts);
          continue;
        }
        const told = { scope, tracing: tracing && uploading(tracing) };
        const gifts = await upload(given, files, file, told, signal).catch(untaken);
        tracing?.took("upload", clock.elapsed() - start);
        kept.delete(key);
        kept.set(key, { gifts, untilMs: start + given.lifetimeMs });
        const [oldest] = kept.keys();
        if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
        files.add(file, gifts);
      }
      return isReused;
    },
    forget(uploads, files) {
      for (const { key } of wantedOf(uploads, files)) kept.delete(key);
    },
  };
}

/** The uploads of files, and what tells each from others. */
function* wantedOf(uploads: readonly Upload[], files: Files) {
  for (const given of uploads)
    for (const file of files.values.filter(({ role }) => given.roles.has(role)))
      yield { given, file, key: `${given.name} ${file.role} ${files.hashOf(file)}` };
}

/** All of it is upload, also until its connection is open and its answer there. Only a refusal is the answer to the submission. */
function uploading(tracing: Tracing): Tracing {
  return {
    took: () => {},
    answered: (status, requestId) => (isSuccess(status) ? undefined : tracing.answered(status, requestId)),
  };
}

/** Whatever the result of an upload, the task was not submitted. */
function untaken(error: unknown): never {
  if (error instanceof ExpressionError)
    throw new ProviderError("reroute", "NO_ROUTE_AVAILABLE", `An upload cannot be worded: ${error.message}.`);
  if (error instanceof NoAnswer && error.refusal !== undefined) throw refusedBeforehand(error.refusal);
  if (error instanceof NoAnswer) throw new ProviderError("retry", "UPSTREAM_ERROR", error.message);
  throw error;
}
