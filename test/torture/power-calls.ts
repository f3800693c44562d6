/** A system call of a traced process, as strace prints it with `-f -y -xx`. */
export interface Call {
  readonly name: string;
  /** What stands between the parentheses. */
  readonly args: string;
}

/** A call begins, and ends some time later, unless its process was killed in it. Calls of other threads come in between. */
export type CallEvent =
  | { readonly kind: "begun"; readonly call: Call }
  /** @property result what it returned; negative when it failed */
  | { readonly kind: "ended"; readonly call: Call; readonly result: number };

const LINE = /^(\d+) +(\w+)\(/;
const RESUMED = /^(\d+) +<\.\.\. \w+ resumed>/;
const UNFINISHED = " <unfinished ...>";
/** At the end of a line; what was opened, and what was injected, may follow. A process that was killed in a call has `?` there. */
const RESULT = /\) += (-?\d+|\?)[^=]*$/;

/** The calls of a trace in the order in which they began and ended. @throws Error at a line that cannot be read */
export function* eventsOf(trace: string): Generator<CallEvent> {
  /** By thread. */
  const underWay = new Map<string, Call>();
  for (const line of trace.split("\n")) {
    const [, thread, name] = LINE.exec(line) ?? [];
    if (thread !== undefined && name !== undefined) {
      const rest = line.slice(line.indexOf("(") + 1);
      const isUnfinished = rest.endsWith(UNFINISHED);
      const end = isUnfinished ? rest.length - UNFINISHED.length : rest.search(RESULT);
      if (end < 0) throw new Error(`A trace has a line that cannot be read: ${line.slice(0, 200)}`);
      const call = { name, args: rest.slice(0, end) };
      yield { kind: "begun", call };
      if (isUnfinished) underWay.set(thread, call);
      else yield* ended(call, rest);
      continue;
    }
    const [, resumed] = RESUMED.exec(line) ?? [];
    const call = resumed === undefined ? undefined : underWay.get(resumed);
    if (resumed === undefined || call === undefined) continue;
    underWay.delete(resumed);
    yield* ended(call, line);
  }
}

/** Nothing for a call in which its process was killed. */
function* ended(call: Call, line: string): Generator<CallEvent> {
  const [, result = "?"] = RESULT.exec(line) ?? [];
  if (result !== "?") yield { kind: "ended", call, result: Number(result) };
}

/** Bytes of a text with every byte written as `\x00`. */
export function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}

/**
 * The paths that a call is given, as texts or as open files; one that was removed meanwhile is left out, and so is the working folder,
 * since all texts are whole paths.
 */
export function pathsIn({ args }: Call): string[] {
  return [
    ...args.replaceAll(/AT_FDCWD<[^>]*>/g, "").matchAll(/["<]((?:\\x[0-9a-f]{2})+)[">](\(deleted\))?/g),
  ].flatMap(([, path = "", deleted]) => (deleted === undefined ? [bytesOf(path).toString()] : []));
}

/** An open file that is a call's first argument. */
export interface OpenFile {
  readonly number: string;
  /** Undefined for a file without a name. */
  readonly path: string | undefined;
}

export function fileIn({ args }: Call): OpenFile {
  const [, number = "", path = "", deleted] = /^(\d+)<((?:\\x[0-9a-f]{2})*)>(\(deleted\))?/.exec(args) ?? [];
  return { number, path: deleted === undefined && path !== "" ? bytesOf(path).toString() : undefined };
}

/** What a call writes: all its bytes in one piece, and where, if it says so. */
export function writtenBy({ name, args }: Call): { readonly bytes: Buffer; readonly at: number | undefined } {
  const pieces = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g)];
  if (pieces.some(([, , cut]) => cut !== undefined))
    throw new Error(`A trace of ${name} has not all its bytes.`);
  const bytes = Buffer.concat(pieces.map(([, text = ""]) => bytesOf(text)));
  return { bytes, at: name.startsWith("p") ? lastNumberIn(args) : undefined };
}

export function lastNumberIn(args: string): number {
  const [, number] = /(\d+)$/.exec(args) ?? [];
  if (number === undefined) throw new Error(`A trace has no number at the end of ${args.slice(-100)}`);
  return Number(number);
}
