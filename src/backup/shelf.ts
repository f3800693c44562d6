import { byTime, MANIFEST, timeOfBackup } from "./backup.ts";

/** Data to write, which can be read as often as needed. */
export interface ShelfSource {
  readonly sha256: string;
  readonly sizeBytes: number;
  read(at: number, length: number): Promise<Uint8Array>;
}

/** An object of a shelf. */
export interface ShelfObject {
  readonly name: string;
  readonly sizeBytes: number;
}

/**
 * A place for backups in a bucket. Below it lie `content/<SHA-256>`, what backups share; and for each backup `backups/<time>/`, with
 * `files/<SHA-256>`, what is its own, and the manifest, which is written last: without it there is no backup.
 */
export interface Shelf {
  /** For people, such as `s3://bucket/prefix/`. */
  readonly where: string;
  /** Writes an object completely or not at all. Never replaces an existing object. */
  put(name: string, source: ShelfSource): Promise<void>;
  /** All bytes of an object, compared with nothing. */
  read(object: ShelfObject): AsyncIterable<Uint8Array>;
  /** The objects whose names begin like this, in the order of their names. */
  list(prefix: string): AsyncIterable<ShelfObject>;
  remove(name: string): Promise<void>;
  /** Gives up unfinished writes of a process that no longer runs. */
  abandon(prefix: string): Promise<void>;
  /** Makes sure that the place belongs to this data folder. @throws if it belongs to another one */
  requireOwn(): Promise<void>;
}

export const CONTENT = "content/";
export const BACKUPS = "backups/";

export const contentName = (sha256: string) => `${CONTENT}${sha256}`;
export const ownName = (backup: string, sha256: string) => `${BACKUPS}${backup}/files/${sha256}`;
export const manifestName = (backup: string) => `${BACKUPS}${backup}/${MANIFEST}`;

/** A backup on a shelf. */
export interface Shelved {
  readonly name: string;
  readonly manifest: ShelfObject;
}

/** The contents below `backups/`: complete backups, oldest first, and remains of others. */
export async function listShelf(
  shelf: Pick<Shelf, "list">,
): Promise<{ readonly backups: Shelved[]; readonly leftovers: string[] }> {
  const whole = new Map<string, ShelfObject>();
  const parts: { readonly backup: string; readonly name: string }[] = [];
  for await (const object of shelf.list(BACKUPS)) {
    const [backup = "", ...rest] = object.name.slice(BACKUPS.length).split("/");
    // What has another name is not ours.
    if (timeOfBackup(backup) === undefined) continue;
    if (rest.join("/") === MANIFEST) whole.set(backup, object);
    else parts.push({ backup, name: object.name });
  }
  const backups = [...whole].map(([name, manifest]) => ({ name, manifest }));
  return {
    backups: backups.sort((one, other) => byTime(one.name, other.name)),
    leftovers: parts.filter(({ backup }) => !whole.has(backup)).map(({ name }) => name),
  };
}
