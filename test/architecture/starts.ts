import { dirname, join } from "node:path";
import type { Sources } from "./source.ts";

/** What only a server or a command on a data folder needs; loading it would slow every other command down. */
const LOADED_LATER =
  /^src\/(?:app\/(?!settings\.ts$)|assets|catalog|egress|http|moderation|moving|runtime|scheduler|service|store|studio|providers\/[^/]+\/adapter\.ts$)/;

/** Packages that few commands need: those that draw, and those that make tables, on a terminal. */
const PACKAGES_LOADED_LATER = /^(?:ajv|chalk|cli-table3|hono|ink|pino|react|sharp)(?:\/|$)/;

/** The list of commands, which loads the module of the one that is asked for. */
const COMMAND_LIST = "cli/commands.ts";

/** Modules loaded at the start of commands although few of them need them, and command modules loaded by every command. */
export function startViolations(sources: Sources): string[] {
  const reached = new Set<string>();
  const commands: string[] = [];
  const visit = (path: string): void => {
    const text = sources.get(path);
    if (text === undefined || reached.has(path)) return;
    reached.add(path);
    if (!/\.tsx?$/.test(path)) return;
    // The transpiler drops imports of types, which load nothing.
    const transpiler = new Bun.Transpiler({ loader: path.endsWith("x") ? "tsx" : "ts" });
    for (const { kind, path: specifier } of transpiler.scanImports(text)) {
      const isLoaded = kind === "import-statement";
      if (isLoaded && PACKAGES_LOADED_LATER.test(specifier)) reached.add(specifier);
      if (isLoaded && specifier.startsWith(".")) visit(join(dirname(path), specifier));
      if (kind === "dynamic-import" && path === COMMAND_LIST) commands.push(join(dirname(path), specifier));
    }
  };
  visit("cli/program.ts");
  const always = [...reached].filter((path) => /^cli\/commands\//.test(path) || LOADED_LATER.test(path));
  for (const path of commands) visit(path);
  const early = [...reached].filter((path) => LOADED_LATER.test(path) || PACKAGES_LOADED_LATER.test(path));
  return [
    ...always.map((path) => `${path} is loaded by every command`),
    ...early.filter((path) => !always.includes(path)).map((path) => `${path} is loaded before it is needed`),
  ];
}
