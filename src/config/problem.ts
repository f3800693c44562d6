import { sentence } from "../domain/words/say.ts";

export interface ConfigProblem {
  /** The flag, the variable, or the file and the key in it. */
  readonly where: string;
  readonly message: string;
  readonly suggestion?: string | undefined;
  /** Only something on this machine or in this shell is missing, which only a server needs: a key's variable, a key's file. */
  readonly isMissing?: true | undefined;
}

/** File, line and column of a problem, as far as `where` names them, and what it is about. */
export function placeOfProblem({ where }: Pick<ConfigProblem, "where">) {
  const [, file, line, column, key] = /^(.+?):(\d+):(\d+)(?:: (.*))?$/s.exec(where) ?? [];
  if (file === undefined) return { file: undefined, line: undefined, column: undefined, key: where };
  return { file, line: Number(line), column: Number(column), key };
}

/** One problem as one line. */
export function describeProblem({ where, message, suggestion }: ConfigProblem): string {
  return `${sentence(`${where}: ${message}`)}${suggestion === undefined ? "" : ` Did you mean ${suggestion}?`}`;
}

/** The given value, shortened for a message and without the password of a URL. */
export function show(raw: unknown): string {
  const text = (JSON.stringify(raw) ?? String(raw)).replace(/:\/\/[^/\s"]*@/g, "://…@");
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** Lists every problem of the configuration, not only the first. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(
    readonly problems: readonly ConfigProblem[],
    /** The data folder, where that is known all the same. */
    readonly dataDir?: string,
  ) {
    super(problems.map(describeProblem).join("\n"));
  }
}
