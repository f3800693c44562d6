import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../..");

/**
 * How a block is treated:
 * - `run`: commands that must succeed (`sh`), commands with their output (`console`), or a program (`js`, `py`);
 * - `background`: the same, but it runs until the document ends;
 * - `output`: what the block before it prints;
 * - `checked`: only its syntax is checked, for the reason given;
 * - `data`: JSON or YAML that must parse; prose of another kind is not looked at.
 */
export type Treatment =
  | { readonly kind: "run" }
  | { readonly kind: "background"; readonly port?: number | undefined }
  | { readonly kind: "output" }
  | { readonly kind: "checked"; readonly reason: string }
  | { readonly kind: "data" };

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly treatment: Treatment;
}

const RUNNABLE = new Set(["sh", "console", "js"]);
const FENCE = /^( *)(`{3,})(\S*)\s*$/;
const NOT_RUN = /^<!-- not run: (.+) -->$/;
const UNTIL_STOPPED = /^<!-- runs until stopped(?:: port (\d+))? -->$/;

/** The documents whose blocks are tested, by their paths in the repository. */
export async function documents(): Promise<string[]> {
  const pages = await Array.fromAsync(new Bun.Glob("docs/**/*.md").scan({ cwd: ROOT }));
  return ["README.md", "CONTRIBUTING.md", ...pages.sort()];
}

export function readDocument(path: string): Promise<string> {
  return Bun.file(join(ROOT, path)).text();
}

/** Every fenced block of a document, in order. @throws Error for a block that does not end, or a comment that no block follows */
export function blocksOf(markdown: string): Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  let comment: string | undefined;
  let isAfterBlock = false;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const [, indent = "", fence, language = ""] = FENCE.exec(line) ?? [];
    if (fence === undefined) {
      if (line.trim() === "") continue;
      if (comment !== undefined) throw new Error(`No block follows "${comment}".`);
      isAfterBlock = false;
      comment = NOT_RUN.test(line) || UNTIL_STOPPED.test(line) ? line : undefined;
      continue;
    }
    const end = lines.findIndex((each, at) => at > i && each.trim() === fence);
    if (end < 0) throw new Error(`The block of line ${i + 1} does not end.`);
    const text = lines.slice(i + 1, end).map((each) => each.slice(indent.length));
    const treatment = treatmentOf(language, comment, isAfterBlock ? blocks.at(-1) : undefined);
    blocks.push({ language, text: text.join("\n"), line: i + 1, treatment });
    comment = undefined;
    isAfterBlock = true;
    i = end;
  }
  return blocks;
}

function treatmentOf(language: string, comment: string | undefined, before: Block | undefined): Treatment {
  const reason = NOT_RUN.exec(comment ?? "")?.[1];
  if (reason !== undefined) return { kind: "checked", reason };
  if (RUNNABLE.has(language)) {
    const [isBackground, port] = UNTIL_STOPPED.exec(comment ?? "") ?? [];
    if (isBackground === undefined) return { kind: "run" };
    return { kind: "background", port: port === undefined ? undefined : Number(port) };
  }
  const ran = before?.treatment.kind === "run" || before?.treatment.kind === "background";
  return { kind: ran && (language === "text" || language === "json") ? "output" : "data" };
}

/** The commands of a `console` block, each with the lines that are shown below it and the exit code its comment tells. */
export interface Shown {
  readonly command: string;
  readonly output: readonly string[];
  readonly exitCode: number;
}

/** Reads `$ command` lines, continued by a backslash, and what stands below them. */
export function shownIn(block: Block): Shown[] {
  const shown: { command: string; output: string[]; exitCode: number }[] = [];
  let isContinued = false;
  for (const line of block.text.split("\n")) {
    const last = shown.at(-1);
    if (isContinued && last !== undefined) last.command += `\n${line}`;
    else if (line.startsWith("$ ")) shown.push({ command: line.slice(2), output: [], exitCode: 0 });
    else if (last === undefined) throw new Error(`Line ${block.line}: a console block begins with "$ ".`);
    else last.output.push(line);
    isContinued = line.endsWith("\\") && (isContinued || line.startsWith("$ "));
  }
  return shown.map((each) => ({ ...each, exitCode: Number(/# exit (\d+)/.exec(each.command)?.[1] ?? 0) }));
}

/** The shell commands of a block, without their output. */
export function commandsOf(block: Block): string {
  if (block.language !== "console") return block.text;
  return shownIn(block)
    .map(({ command }) => command)
    .join("\n");
}
