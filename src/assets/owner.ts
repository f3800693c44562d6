import { isJsonObject } from "../domain/json.ts";
import type { Clock } from "../domain/ports/runtime.ts";

/** The file in a folder, or the object below a prefix, that says which data folder stores there. */
export const OWNER = "owner.json";
/** What the id of a database that nodes share begins with. */
export const OF_DATABASE = "database_";
const FORMAT = "svc-owner";
/** For so long a service is not asked again. */
const KNOWN_MS = 60_000;

/** A data folder that stores in a folder of files or below a prefix of a bucket. */
export interface Owner {
  /** The id of the data folder, which no copy of a backup has. */
  readonly folder: string;
  /** Where it was then, for people. */
  readonly host: string;
  readonly path: string;
}

/** What was read of the owner, and the tag of what was read. */
export interface Found {
  readonly text: string;
  readonly tag: string;
}

/** How long the place is asked; as long as usual unless given. */
export interface Haste {
  readonly patienceMs?: number;
  readonly answerMs?: number;
}

/** The place of an owner's name: a folder of files, or a prefix of a bucket. */
export interface OwnerMark {
  /** For people, such as `the folder /srv/files`. */
  readonly place: string;
  read(haste?: Haste): Promise<Found | undefined>;
  /** Writes a name if what was read is still there, or nothing if nothing was. That it was not written is seen when it is read again. */
  write(text: string, read: Found | undefined, haste?: Haste): Promise<void>;
  /** The place's time, in epoch milliseconds. */
  now(): number;
  /** What is thrown where another owner has the place. */
  taken(message: string): Error;
}

export interface OwnershipOptions {
  readonly mark: OwnerMark;
  readonly me: Owner;
  readonly clock: Pick<Clock, "elapsed">;
  /** What to do where the place belongs to another data folder. */
  readonly advice: string;
  /**
   * Asked where a place names another path of this data folder. @returns whether a folder with this one's id is still there: one of
   * them is a copy of the other, and both would store in the place
   */
  readonly isCopied?: ((owner: Owner) => Promise<boolean>) | undefined;
  /** Called before a place is taken that is nobody's. @returns why it must not be: what lies there is not ours */
  readonly findStrangers?: (() => Promise<string | undefined>) | undefined;
}

/**
 * Ensures that only one data folder stores in a place. The first one writes its name there, on the condition that there is none
 * yet. Where there are no conditional writes, the name is read again.
 */
export class Ownership {
  #oursAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  constructor(private readonly options: OwnershipOptions) {}

  /**
   * Makes sure that the place is ours, and takes it where it is nobody's. What was seen a minute ago is not looked at again.
   *
   * @throws what the mark throws where another has it, or cannot be read
   */
  async require(haste?: Haste): Promise<void> {
    const { clock } = this.options;
    if (clock.elapsed() - this.#oursAt < KNOWN_MS) return;
    this.#asking ??= this.#settle(haste).finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
  }

  /** Writes nothing. @throws as `require` where another has the place */
  async requireNoOther(haste?: Haste): Promise<void> {
    const at = this.options.clock.elapsed();
    const found = await this.options.mark.read(haste);
    if (found !== undefined) await this.#requireOurs(found, at);
  }

  /** The owner of the place, in words; undefined if there is none, or only this data folder. */
  async other(haste?: Haste): Promise<string | undefined> {
    const found = await this.options.mark.read(haste);
    return found === undefined || (await this.#isOurs(found.text)) ? undefined : tell(found.text);
  }

  /**
   * Takes the place even if another folder owns it. @returns the previous owner, in words. @throws as `require` where another took
   * it at the same time
   */
  async take(): Promise<string | undefined> {
    const found = await this.options.mark.read();
    if (found !== undefined && (await this.#isOurs(found.text))) return undefined;
    await this.#write(found);
    const at = this.options.clock.elapsed();
    await this.#requireOurs(await this.options.mark.read(), at);
    return found && tell(found.text);
  }

  async #settle(haste: Haste | undefined): Promise<void> {
    const { mark, clock, findStrangers } = this.options;
    let at = clock.elapsed();
    let found = await mark.read(haste);
    if (found === undefined) {
      const refusal = await findStrangers?.();
      if (refusal !== undefined) throw mark.taken(refusal);
      await this.#write(undefined, haste);
      at = clock.elapsed();
      found = await mark.read(haste);
    }
    await this.#requireOurs(found, at);
    if (found !== undefined && this.#isMoved(found.text)) await this.#write(found, haste);
  }

  /** Whether this data folder was at another path of its host: a copy of it is known by the path that it has now. */
  #isMoved(text: string): boolean {
    const { me, isCopied } = this.options;
    const { host, path } = fieldsOf(text) ?? {};
    return isCopied !== undefined && host === me.host && path !== me.path;
  }

  /** Whether a place has the name of this data folder, which may have been moved since. */
  async #isOurs(text: string): Promise<boolean> {
    const { me, isCopied } = this.options;
    const { folder, host, path } = fieldsOf(text) ?? {};
    if (folder !== me.folder) return false;
    if (isCopied === undefined || typeof host !== "string" || typeof path !== "string") return true;
    return path === me.path || !(await isCopied({ folder: me.folder, host, path }));
  }

  /** @param at when it was asked, by `Clock.elapsed` */
  async #requireOurs(found: Found | undefined, at: number): Promise<void> {
    const { mark, advice } = this.options;
    const text = found?.text ?? "";
    if (!(await this.#isOurs(text)))
      throw mark.taken(`What lies in ${mark.place} belongs to ${tell(text)}. ${advice}`);
    this.#oursAt = at;
  }

  async #write(read: Found | undefined, haste?: Haste): Promise<void> {
    const { mark, me } = this.options;
    const at = new Date(mark.now()).toISOString();
    await mark.write(`${JSON.stringify({ format: FORMAT, ...me, at })}\n`, read, haste);
  }
}

function fieldsOf(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && value.format === FORMAT ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An owner in words. */
export function tellOwner({ folder, host, path }: Owner): string {
  const kind = folder.startsWith(OF_DATABASE) ? "database" : "data folder";
  return `the ${kind} ${path} of the host ${host}`;
}

function tell(text: string): string {
  const { path, host, at, folder } = fieldsOf(text) ?? {};
  if (typeof path !== "string" || typeof host !== "string") return `another program, by its ${OWNER}`;
  const owner = tellOwner({ folder: String(folder), host: String(host), path });
  return `${owner}${typeof at === "string" ? `, since ${at}` : ""}`;
}
