import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** One line of a Dockerfile: `COPY --from=build /out/svc /usr/local/bin/svc`. */
export interface Instruction {
  readonly word: string;
  readonly flags: ReadonlyMap<string, string>;
  readonly rest: string;
}

/** The stages of a Dockerfile, each a list of instructions that begins with FROM. Reads what ours is written in, and no more. */
export function readDockerfile(path: string): Instruction[][] {
  const stages: Instruction[][] = [];
  const text = readFileSync(path, "utf8").replaceAll(/\\\n\s*/g, " ");
  for (const line of text.split("\n").filter((each) => /^\s*[^#\s]/.test(each))) {
    const [, word = "", flags = "", rest = ""] = /^([A-Z]+)((?: --\S+)*) (.+)$/.exec(line) ?? [];
    if (word === "") throw new Error(`Not an instruction: ${line}`);
    const named = flags.matchAll(/--([a-z-]+)=(\S+)/g);
    const instruction = {
      word,
      flags: new Map([...named].map(([, name = "", value = ""]) => [name, value])),
      rest,
    };
    if (word === "FROM") stages.push([]);
    stages.at(-1)?.push(instruction);
  }
  return stages;
}

/** The rest of every instruction of one kind. */
export const restsOf = (stage: readonly Instruction[], word: string): string[] =>
  stage.filter((each) => each.word === word).map(({ rest }) => rest);

/** The last instruction of a kind whose arguments are a JSON list. */
export function listOf(stage: readonly Instruction[], word: string): string[] {
  const list = /\[.*\]/.exec(restsOf(stage, word).at(-1) ?? "")?.[0] ?? "[]";
  return JSON.parse(list) as string[];
}

/** The variables that a stage sets. */
export function environmentOf(stage: readonly Instruction[]): Record<string, string> {
  const pairs = restsOf(stage, "ENV").flatMap((rest) => rest.split(" "));
  return Object.fromEntries(pairs.map((pair) => pair.split("=", 2)));
}

/**
 * Copies what a build may see: the files that .dockerignore lets through, written as one line `*`, exceptions, and exclusions of
 * whole folders within those.
 */
export function copyContext(root: string, target: string): void {
  const lines = readFileSync(join(root, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.shift() !== "*") throw new Error(".dockerignore does not begin with *.");
  const kept = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const dropped = lines.filter((line) => !line.startsWith("!")).map((line) => join(root, line));
  for (const path of kept) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(root, path), join(target, path), {
      recursive: true,
      filter: (source) => !dropped.includes(source),
    });
  }
}
