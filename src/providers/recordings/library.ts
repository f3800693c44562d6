import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type Json } from "../../domain/json.ts";
import { type Asked, canonical } from "./canonical.ts";
import { sha256Of } from "./files.ts";
import { type CallLine, ENDING, type ExchangeLine, FILES, FORMAT, type Stored } from "./format.ts";
import { readCall, readExchange } from "./lines.ts";

/** What is wrong with a recording, and where. */
export interface Fault {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface Exchange extends ExchangeLine {
  readonly line: number;
  /** Undefined where its body is missing. */
  readonly asked: Asked | undefined;
  /** Why its answer cannot be given. */
  readonly fault?: string | undefined;
}

/** A call of an adapter, and what it exchanged. */
export interface RecordedCall extends CallLine {
  readonly line: number;
  readonly exchanges: readonly Exchange[];
}

export interface Recording {
  readonly file: string;
  readonly task: string;
  readonly model: string;
  /** How each account was reached. */
  readonly accounts: ReadonlyMap<string, Json>;
  readonly exchanges: readonly Exchange[];
  readonly calls: readonly RecordedCall[];
  /** The line after which something is missing; undefined for a whole recording. */
  readonly cutAfter: number | undefined;
}

export interface Library {
  readonly folder: string;
  /** In the order of their tasks. */
  readonly recordings: readonly Recording[];
  readonly faults: readonly Fault[];
  /** @throws Error for one that is missing or was changed */
  content(stored: Stored): Promise<Uint8Array>;
}

/** Reads all recordings of a folder. What is wrong with one is told, and leaves the others as they are. @throws what the disk says */
export async function readLibrary(folder: string): Promise<Library> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(ENDING)).sort();
  const content = contentOf(folder);
  const faults: Fault[] = [];
  const recordings: Recording[] = [];
  for (const file of names) {
    const reading = new Reading(file, content);
    const recording = await reading.read(await readFile(join(folder, file), "utf8"));
    if (recording !== undefined) recordings.push(recording);
    faults.push(...reading.faults);
  }
  return { folder, recordings, faults, content };
}

const SHA256 = /^[0-9a-f]{64}$/;

function contentOf(folder: string): Library["content"] {
  return async (stored) => {
    if ("text" in stored) return Buffer.from(stored.text);
    if ("withheld" in stored) throw new Error(`a body was not recorded: ${stored.withheld}`);
    const name = SHA256.test(stored.file) ? stored.file : "";
    const bytes = name === "" ? undefined : await readFile(join(folder, FILES, name)).catch(() => undefined);
    if (bytes === undefined) throw new Error(`${FILES}/${stored.file.slice(0, 80)} is missing`);
    if (sha256Of(bytes) !== name) throw new Error(`${FILES}/${name} was changed: its hash is another`);
    return bytes;
  };
}

/** Reads one file. */
class Reading {
  readonly faults: Fault[] = [];
  readonly #accounts = new Map<string, Json>();
  readonly #exchanges: Exchange[] = [];
  readonly #calls: RecordedCall[] = [];
  #pending: Exchange[] = [];
  #cutAfter: number | undefined;
  #hasEnded = false;

  constructor(
    readonly file: string,
    readonly content: Library["content"],
  ) {}

  async read(text: string): Promise<Recording | undefined> {
    const lines = text.split("\n");
    const last = lines.pop();
    if (last !== undefined && last !== "") lines.push(last);
    const head = parsed(lines[0] ?? "");
    if (!isJsonObject(head) || typeof head.task !== "string" || typeof head.model !== "string") {
      this.#fault(1, "is no recording: the first line names no task");
      return undefined;
    }
    if (head.recording !== FORMAT) {
      this.#fault(1, `is of another version (${String(head.recording).slice(0, 20)}, not ${FORMAT})`);
      return undefined;
    }
    for (const [i, line] of lines.entries()) if (i > 0) await this.#line(i + 1, line);
    if (!this.#hasEnded && this.#cutAfter === undefined) {
      this.#cutAfter = lines.length;
      this.#fault(lines.length, "is the last line: what came after it was not recorded");
    }
    return {
      ...{ file: this.file, task: head.task, model: head.model, accounts: this.#accounts },
      ...{ exchanges: this.#exchanges, calls: this.#calls, cutAfter: this.#cutAfter },
    };
  }

  async #line(number: number, text: string): Promise<void> {
    const value = parsed(text);
    if (!isJsonObject(value)) return this.#cut(number, "is cut off, or is no JSON");
    if (typeof value.ended === "string") this.#hasEnded = true;
    else if (typeof value.stopped === "string")
      this.#cut(number, `says that recording stopped: ${value.stopped}`);
    else if (typeof value.account === "string") this.#accounts.set(value.account, value.terms ?? null);
    else if (value.call !== undefined) this.#call(number, readCall(value));
    else await this.#exchange(number, readExchange(value));
  }

  #call(line: number, call: CallLine | undefined): void {
    if (call === undefined) this.#cut(line, "is no line of a recording");
    else this.#calls.push({ ...call, line, exchanges: this.#pending });
    this.#pending = [];
  }

  async #exchange(line: number, exchange: ExchangeLine | undefined): Promise<void> {
    if (exchange === undefined) return this.#cut(line, "is no line of a recording");
    let asked: Asked | undefined;
    let fault: string | undefined;
    try {
      asked = await this.#asked(exchange);
      if (exchange.answer?.body !== undefined && exchange.use !== "token")
        await this.content(exchange.answer.body);
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
      this.#fault(line, fault);
    }
    const read = { ...exchange, ...{ line, asked, fault } };
    this.#exchanges.push(read);
    this.#pending.push(read);
  }

  async #asked({ lane, use, at, sent }: ExchangeLine): Promise<Asked> {
    const { method, url, headers, body } = sent;
    const bytes = body && (await this.content(body));
    return await canonical({ ...{ lane, use, method, url, headers, body: bytes }, atMs: Date.parse(at) });
  }

  #cut(line: number, message: string): void {
    this.#cutAfter ??= line - 1;
    this.#fault(line, message);
  }

  #fault(line: number, message: string): void {
    this.faults.push({ file: this.file, line, message });
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
