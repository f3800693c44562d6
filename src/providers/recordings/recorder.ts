import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LaneId, ModelId, TaskId } from "../../domain/ids.ts";
import type { Json } from "../../domain/json.ts";
import type { Egress } from "../../domain/ports/egress.ts";
import type { InputFile, ProviderAdapter } from "../../domain/ports/provider.ts";
import type { Clock } from "../../domain/ports/runtime.ts";
import { NETWORK, type Network } from "../kit/network.ts";
import { type Call, inJson, taped } from "./calls.ts";
import type { Context, Current } from "./context.ts";
import { recorded } from "./exchange.ts";
import { recordedFetch } from "./fetched.ts";
import { createFiles, type RecordedFiles } from "./files.ts";
import { type CallLine, ENDING, FORMAT } from "./format.ts";
import { withoutAddressKeys } from "./masking.ts";
import { openTape, type Tape } from "./tape.ts";

export interface RecorderDeps {
  /** It is there. */
  readonly folder: string;
  readonly clock: Clock;
  readonly context: Context;
  /** Told once when something cannot be written. The tasks go on. */
  readonly onTrouble: (why: string) => void;
  /** The runtime's unless given. */
  readonly network?: Network | undefined;
}

/** Records the exchanges with upstreams, one file for each task. Recording fails no task, and no task waits for the disk. */
export function createRecorder({ folder, clock, context, network = NETWORK, onTrouble }: RecorderDeps) {
  const files = createFiles(folder, clock);
  const { tapeOf, ended, stop } = createTapes(folder, clock, onTrouble);
  const accounts = new WeakMap<Tape, Set<LaneId>>();

  /** Adds lines to the recording of the task, after one that tells of the account, where that is new. */
  function add({ task, account }: Current, lines: Parameters<Tape["add"]>[0]): void {
    const tape = tapeOf(task.id, task.model);
    const { lane, terms } = account ?? {};
    const known = accounts.get(tape) ?? new Set();
    accounts.set(tape, known);
    if (lane !== undefined && !known.has(lane)) {
      known.add(lane);
      tape.add(() => [{ account: lane, terms: terms ?? null }]);
    }
    tape.add(lines);
  }

  return {
    network: {
      async send(sending) {
        const current = context.current();
        if (current === undefined) return await network.send(sending);
        current.secrets.push(sending.secrets);
        return await recorded(
          { files, clock, network, add: (lines) => add(current, lines) },
          current,
          sending,
        );
      },
    } satisfies Network,
    /** An adapter whose calls are written down, after what they exchange. */
    adapter: (adapter: ProviderAdapter): ProviderAdapter =>
      taped(adapter, context, (current, call) => {
        if (current.secrets.length > 0) add(current, async () => [await callLine(files, current, call)]);
      }),
    /** Fetches files from addresses that are no upstream's own, and writes down those that are for a task. */
    fetchMedia: (fetchMedia: Egress["fetchMedia"]): Egress["fetchMedia"] =>
      recordedFetch(fetchMedia, { files, clock, current: context.current, add }),
    /** The task is over: its recording is whole. */
    ended,
    stop,
  };
}

/** The recordings under way. */
function createTapes(folder: string, clock: Clock, onTrouble: (why: string) => void) {
  const tapes = new Map<TaskId, Tape>();
  const closing = new Set<Promise<void>>();
  const now = () => new Date(clock.now()).toISOString();
  let hasTold = false;
  const onStop = (why: string) => {
    if (!hasTold) onTrouble(why);
    hasTold = true;
  };
  const pathOf = (task: TaskId) => join(folder, task + ENDING);
  const open = (task: TaskId, model?: ModelId) =>
    openTape(pathOf(task), { recording: FORMAT, task, model: model ?? "", at: now() }, onStop);
  return {
    tapeOf: (task: TaskId, model: ModelId): Tape => tapes.getOrInsertComputed(task, () => open(task, model)),
    ended(task: TaskId): void {
      // One of an earlier process may be whole without another request.
      const tape = tapes.get(task) ?? (existsSync(pathOf(task)) ? open(task) : undefined);
      tapes.delete(task);
      if (tape === undefined) return;
      tape.add(() => [{ ended: now() }]);
      const done = tape.done().finally(() => closing.delete(done));
      closing.add(done);
    },
    async stop(): Promise<void> {
      await Promise.all([...closing, ...[...tapes.values()].map((tape) => tape.done())]);
    },
  };
}

async function callLine(
  files: RecordedFiles,
  current: Current,
  { inputs = [], ...call }: Call,
): Promise<CallLine> {
  const stored = await Promise.all(inputs.map((input) => inputLine(files, input)));
  const given = inputs.length === 0 ? {} : { inputs: stored };
  let text = inJson({ ...call, ...given });
  for (const { mask } of current.secrets) text = mask(text);
  // It was made of such a line, and what stands for a secret needs no escape.
  return JSON.parse(withoutAddressKeys(text)) as CallLine;
}

async function inputLine(files: RecordedFiles, input: InputFile): Promise<Json> {
  const { role, type, width, height, durationMs, sha256, sizeBytes } = input;
  // It may have been removed meanwhile.
  const bytes = await input.content.bytes().catch(() => undefined);
  const content = bytes && (await files.store(bytes, NO_SECRETS));
  return JSON.parse(
    JSON.stringify({ role, type, width, height, durationMs, sha256, sizeBytes, content }),
  ) as Json;
}

/** What a caller gave. */
const NO_SECRETS = { mask: (text: string) => text, isIn: () => false };
