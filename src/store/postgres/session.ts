/** A value of a parameter; null for none. */
export type Parameter = string | number | null | Uint8Array | readonly (string | number | null)[];

/** The rows of an answer, and how many rows were returned or changed. */
export interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly count: number;
}

/** Where statements run: in a transaction, or on any connection of the pool. */
export interface Session {
  /** In a transaction, statements that do not wait for each other run in the order of the calls. */
  ask(text: string, parameters: readonly Parameter[]): Promise<Answer>;
}

/** A statement with the types of its rows and parameters. Parameters are `$1`, `$2` and so on. */
export interface Statement<Row, Parameters extends readonly Parameter[]> {
  all(session: Session, ...parameters: Parameters): Promise<Row[]>;
  get(session: Session, ...parameters: Parameters): Promise<Row | undefined>;
  /** @returns how many rows it returned or changed */
  run(session: Session, ...parameters: Parameters): Promise<number>;
}

/** Defines a statement. Each connection that runs it prepares it at its first use. */
export function statement<Row, Parameters extends readonly Parameter[] = []>(
  text: string,
): Statement<Row, Parameters> {
  const all = async (session: Session, ...parameters: Parameters): Promise<Row[]> => {
    const { rows } = await session.ask(text, parameters);
    // The type is stated beside the text, as it is for the statements of SQLite.
    return rows as Row[];
  };
  return {
    all,
    get: async (...given) => (await all(...given))[0],
    run: async (session, ...parameters) => (await session.ask(text, parameters)).count,
  };
}

/** The body of a write. It may run more than once, each time after its last run was rolled back. */
export type Operation<T> = (session: Session) => Promise<T>;
