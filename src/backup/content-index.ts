import { Database } from "bun:sqlite";

/** Objects of a bucket by name or hash, with their sizes, kept in a file because there may be more than memory should hold. */
export class ContentIndex implements Disposable {
  readonly #db: Database;

  /** @param path of a new file, which has no use afterwards */
  constructor(path: string) {
    this.#db = new Database(path, { create: true, strict: true });
    // A file that a crash leaves has no use.
    this.#db.run("pragma journal_mode = off");
    this.#db.run("pragma synchronous = off");
    this.#db.run("pragma cache_size = -16384");
    this.#db.run(
      "create table content (name text primary key, size integer not null, marked integer not null) without rowid",
    );
    this.#db.run("create index unmarked on content (name) where marked = 0");
    this.#db.run("begin");
  }

  add(name: string, sizeBytes: number): void {
    this.#db.query("insert or replace into content values (?, ?, 0)").run(name, sizeBytes);
  }

  sizeOf(name: string): number | undefined {
    const find = this.#db.query<{ size: number }, [string]>("select size from content where name = ?");
    return find.get(name)?.size;
  }

  /** @returns whether the index contains it */
  remove(name: string): boolean {
    return this.#db.query("delete from content where name = ?").run(name).changes > 0;
  }

  /** Marks an object as needed; does nothing if the index does not contain it. */
  mark(name: string): void {
    this.#db.query("update content set marked = 1 where name = ? and marked = 0").run(name);
  }

  hasUnmarked(): boolean {
    return this.#unmarked("", 1).length > 0;
  }

  /** Objects that are not marked, in the order of their names. Others may be removed meanwhile. */
  *unmarked(): Generator<string> {
    for (let after = ""; ; ) {
      const page = this.#unmarked(after, PAGE);
      for (const { name } of page) yield name;
      after = page.at(-1)?.name ?? "";
      if (page.length < PAGE) return;
    }
  }

  #unmarked(after: string, limit: number) {
    const find = this.#db.query<{ name: string }, [string, number]>(
      "select name from content indexed by unmarked where marked = 0 and name > ? order by name limit ?",
    );
    return find.all(after, limit);
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

const PAGE = 1_000;
