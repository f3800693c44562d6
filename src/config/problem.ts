export interface ConfigProblem {
  /** The flag, the variable, or the file and the key in it. */
  readonly where: string;
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** One problem as one line. */
export function describeProblem({ where, message, suggestion }: ConfigProblem): string {
  return `${where}: ${message}.${suggestion === undefined ? "" : ` Did you mean ${suggestion}?`}`;
}

/** The given value, shortened for a message and without the password of a URL. */
export function show(raw: unknown): string {
  const text = (JSON.stringify(raw) ?? String(raw)).replace(/:\/\/[^/\s"]*@/g, "://…@");
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
