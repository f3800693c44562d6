/** The variable of a provider's key, by its id. */
export function variableOf(id: string): string {
  return `${id.toUpperCase().replaceAll("-", "_")}_API_KEY`;
}

/** A key of a mapping in YAML. */
export function keyText(name: string): string {
  return /^[A-Za-z_][\w-]*$/.test(name) && !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(name)
    ? name
    : JSON.stringify(name);
}

/** One line of YAML: a name and a text, and what its author must look at. */
export function line(indent: number, name: string, value: string, todo?: string): string {
  const text = `${" ".repeat(indent)}${keyText(name)}: ${JSON.stringify(value)}`;
  return todo === undefined ? text : `${text} # TODO ${todo.replaceAll(/\s+/g, " ")}`;
}
