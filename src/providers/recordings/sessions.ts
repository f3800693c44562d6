import type { TaskId } from "../../domain/ids.ts";
import type { Asked } from "./canonical.ts";
import type { Current } from "./context.ts";
import type { Exchange, Library, Recording } from "./library.ts";
import { unmatched } from "./unmatched.ts";

/** How far a task is in a recording. */
class Cursor {
  readonly #used = new Set<Exchange>();
  /** Ids of the recorded task, and what stands for them in the present one. */
  readonly ids = new Map<string, string>();

  constructor(readonly recording: Recording) {}

  /** The next exchange of this request. Files may be fetched again. */
  find({ key }: Asked): Exchange | undefined {
    const equal = this.recording.exchanges.filter(({ asked }) => asked?.key === key);
    return equal.find((each) => !this.#used.has(each)) ?? equal.findLast(({ use }) => use === "file");
  }

  take(exchange: Exchange, { ids }: Asked): void {
    this.#used.add(exchange);
    for (const [i, id] of (exchange.asked?.ids ?? []).entries()) {
      const present = ids[i];
      if (present !== undefined && present !== id) this.ids.set(id, present);
    }
  }

  /** Those that were not asked for yet. */
  get left(): readonly Exchange[] {
    return this.recording.exchanges.filter((each) => !this.#used.has(each));
  }
}

/** The recordings that answer a task so far; the first of them gives the answers. */
interface Session {
  cursors: readonly Cursor[];
}

/** Finds the exchange that answers a request of a task. */
export function createSessions(library: Library) {
  const sessions = new Map<TaskId, Session>();
  const uses = new Map<Recording, number>();
  const count = (recording: Recording | undefined, by: number) =>
    recording && uses.set(recording, (uses.get(recording) ?? 0) + by);

  /** Recordings of the task's model: those that answered the fewest tasks come first. */
  function begin({ model }: Current["task"]): Session {
    const recordings = library.recordings.filter((each) => each.model === model);
    recordings.sort((one, other) => (uses.get(one) ?? 0) - (uses.get(other) ?? 0));
    count(recordings[0], 1);
    return { cursors: recordings.map((recording) => new Cursor(recording)) };
  }

  /** @throws Error that says what is recorded instead */
  function next(task: Current["task"], asked: Asked): { cursor: Cursor; exchange: Exchange } {
    const session = sessions.getOrInsertComputed(task.id, () => begin(task));
    const { cursors } = session;
    const found = cursors.flatMap((cursor) => {
      const exchange = cursor.find(asked);
      return exchange === undefined ? [] : [{ cursor, exchange }];
    });
    const [first] = found;
    if (first === undefined) throw new Error(unmatched(library, task.model, cursors, asked));
    if (first.cursor !== cursors[0]) {
      count(cursors[0]?.recording, -1);
      count(first.cursor.recording, 1);
    }
    for (const { cursor, exchange } of found) cursor.take(exchange, asked);
    session.cursors = found.map(({ cursor }) => cursor);
    if (first.exchange.fault !== undefined) {
      const { file } = first.cursor.recording;
      throw new Error(`The recording ${file}:${first.exchange.line} cannot answer: ${first.exchange.fault}.`);
    }
    return first;
  }

  return { next, end: (task: TaskId) => void sessions.delete(task) };
}
