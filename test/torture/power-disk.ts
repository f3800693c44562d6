import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Dice } from "./dice.ts";
import { type Call, type CallEvent, fileIn, lastNumberIn, pathsIn, writtenBy } from "./power-calls.ts";
import { Content, SURVIVALS, type Survival } from "./power-content.ts";

/** What has a name: a file's content, or a folder. */
type Node = Content | "folder";

/** Names that one call changed at once; undefined for one that is gone. */
interface Renaming {
  readonly endedAt: number;
  readonly names: readonly (readonly [path: string, node: Node | undefined])[];
}

/** What a power cut took. */
export interface Lost {
  readonly writes: number;
  readonly names: number;
}

/** Files that are made anew at each start. */
const MADE_ANEW = /-shm$/;

/**
 * What a disk would hold if the power had been cut, rather than the process killed: what was flushed, and of everything else what dice
 * decide. It is told every call of the process that changes or flushes files below its root. Names of a folder are durable once the
 * folder was flushed; until then they change in the order of the calls. No disk keeps less than this.
 */
export class Disk {
  readonly #names = new Map<string, Node>();
  readonly #durable = new Map<string, Node>();
  /** By folder. */
  readonly #renamings = new Map<string, Renaming[]>();
  /** Where the next `write` to an open file goes, by its number. */
  readonly #positions = new Map<string, number | "end">();
  readonly #ends = new WeakMap<Call, (endedAt: number, result: number) => void>();
  #events = 0;

  /**
   * Takes what is there now for durable.
   * @param isElsewhere whether a path lies on another disk, to which nothing happens
   */
  constructor(
    readonly root: string,
    readonly isElsewhere: (path: string) => boolean,
  ) {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!this.#isHere(path)) continue;
      const node = entry.isDirectory() ? "folder" : new Content(readFileSync(path));
      this.#names.set(path, node);
      this.#durable.set(path, node);
    }
  }

  /** @throws Error at a call whose effect is not known */
  apply(event: CallEvent): void {
    this.#events += 1;
    const { call } = event;
    if (event.kind === "ended") {
      this.#ends.get(call)?.(this.#events, event.result);
      return;
    }
    if (!pathsIn(call).some((path) => this.#isHere(path) || path === this.root)) return;
    const end = this.#begin(call);
    if (end !== undefined) this.#ends.set(call, end);
  }

  /** Leaves below the root what a power cut leaves. */
  cut(dice: Dice): Lost {
    const survival = dice.pick(SURVIVALS);
    const pending = [...this.#renamings.values()].flatMap((all) =>
      all.slice(0, firstOf(all, survival, dice)),
    );
    const names = [...this.#renamings.values()].reduce((sum, { length }) => sum + length, 0) - pending.length;
    for (const renaming of pending.sort((a, b) => a.endedAt - b.endedAt)) rename(this.#durable, renaming);
    this.#clear(this.root);
    let writes = 0;
    for (const [path, node] of [...this.#durable].sort(([a], [b]) => (a < b ? -1 : 1))) {
      // One whose folder is gone is gone with it.
      if (!existsSync(dirname(path)) || MADE_ANEW.test(path)) continue;
      if (node === "folder") mkdirSync(path, { recursive: true, mode: 0o700 });
      else {
        const survives = survival === "some" ? dice.pick(SURVIVALS) : survival;
        if (survives !== "all") writes += node.unflushed;
        writeFileSync(path, node.left(dice, survives), { mode: 0o600 });
      }
    }
    return { writes, names };
  }

  /** Removes what is in a folder, but for what lies on another disk. */
  #clear(folder: string): void {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (this.isElsewhere(path)) continue;
      if (entry.isDirectory()) this.#clear(path);
      if (!entry.isDirectory() || readdirSync(path).length === 0) rmSync(path, { recursive: true });
    }
  }

  #isHere(path: string): boolean {
    return path.startsWith(`${this.root}/`) && !this.isElsewhere(path);
  }

  /** @returns what to do when it has ended with a result */
  #begin(call: Call): ((endedAt: number, result: number) => void) | undefined {
    switch (call.name) {
      case "openat":
      case "open":
        return this.#open(call);
      case "write":
      case "writev":
      case "pwrite64":
      case "pwritev":
        return this.#write(call);
      case "ftruncate":
        return this.#succeeding((endedAt) => this.#contentIn(call)?.resize(lastNumberIn(call.args), endedAt));
      case "fsync":
      case "fdatasync":
        return this.#flush(call);
      case "rename":
      case "renameat2":
      case "link":
      case "unlink":
      case "unlinkat":
      case "mkdir":
      case "mkdirat":
      case "rmdir":
        return this.#succeeding((endedAt) => this.#rename(call, endedAt));
      case "close":
      case "sendto":
        return undefined;
      case "copy_file_range":
        if (!this.#isHere(pathsIn(call).at(-1) ?? "")) return undefined;
        break;
    }
    throw new Error(`What ${call.name} does to a disk is not known: ${pathsIn(call).join(", ")}`);
  }

  #succeeding(act: (endedAt: number) => void) {
    return (endedAt: number, result: number) => {
      if (result >= 0) act(endedAt);
    };
  }

  #contentIn(call: Call): Content | undefined {
    const { path } = fileIn(call);
    const node = path === undefined ? undefined : this.#names.get(path);
    return node === "folder" ? undefined : node;
  }

  #open(call: Call) {
    const path = pathsIn(call).at(-1) ?? "";
    return (endedAt: number, result: number) => {
      if (result < 0) return;
      const known = this.#names.get(path);
      if (known === undefined && call.args.includes("O_CREAT"))
        this.#change(dirname(path), { endedAt, names: [[path, new Content()]] });
      const content = this.#names.get(path);
      if (content === undefined || content === "folder") return;
      if (call.args.includes("O_TRUNC") && content.length > 0) content.resize(0, endedAt);
      this.#positions.set(`${result}`, call.args.includes("O_APPEND") ? "end" : 0);
    };
  }

  #write(call: Call) {
    const content = this.#contentIn(call);
    const { number } = fileIn(call);
    const { bytes, at } = writtenBy(call);
    const position = at ?? this.#positions.get(number) ?? 0;
    const end = content?.write(position === "end" ? content.length : position, bytes);
    return (endedAt: number, result: number) => {
      end?.(endedAt, result);
      if (at === undefined && position !== "end") this.#positions.set(number, position + Math.max(0, result));
    };
  }

  #flush(call: Call) {
    const begunAt = this.#events;
    const { path = "" } = fileIn(call);
    return this.#succeeding(() => {
      const node = path === this.root ? "folder" : this.#names.get(path);
      if (node === "folder") this.#flushNames(path, begunAt);
      else node?.flush(begunAt);
    });
  }

  #flushNames(folder: string, before: number): void {
    const all = this.#renamings.get(folder) ?? [];
    const flushed = all.filter(({ endedAt }) => endedAt < before);
    this.#renamings.set(folder, all.slice(flushed.length));
    for (const renaming of flushed) {
      // What was moved here left its folder by the same change, and had come there before.
      for (const [path] of renaming.names)
        if (dirname(path) !== folder) this.#flushNames(dirname(path), renaming.endedAt);
      rename(this.#durable, renaming);
    }
  }

  #rename(call: Call, endedAt: number): void {
    const paths = pathsIn(call);
    const path = paths.at(-1) ?? "";
    const folder = dirname(path);
    if (call.name.startsWith("mkdir")) this.#change(folder, { endedAt, names: [[path, "folder"]] });
    else if (call.name.startsWith("unlink") || call.name === "rmdir")
      this.#change(folder, { endedAt, names: [[path, undefined]] });
    else {
      const from = paths.at(-2) ?? "";
      const node = this.#names.get(from);
      if (!(node instanceof Content))
        throw new Error(`What ${from} is, which becomes ${path}, is not known.`);
      const gone = call.name === "link" ? [] : [[from, undefined] as const];
      this.#change(folder, { endedAt, names: [...gone, [path, node]] });
    }
  }

  #change(folder: string, renaming: Renaming): void {
    rename(this.#names, renaming);
    this.#renamings.getOrInsertComputed(folder, () => []).push(renaming);
  }
}

function rename(names: Map<string, Node>, { names: changed }: Renaming): void {
  for (const [path, node] of changed) {
    if (node === undefined) names.delete(path);
    else names.set(path, node);
  }
}

/** How many of a folder's changes survive. */
function firstOf({ length }: readonly Renaming[], survival: Survival, dice: Dice): number {
  if (survival === "some") return dice.between(0, length);
  return survival === "all" ? length : 0;
}
