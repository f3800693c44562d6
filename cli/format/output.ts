import type { Context, Sink } from "../context.ts";
import { usage } from "../failure.ts";
import { fieldText } from "./field.ts";
import { cutText } from "./fit.ts";
import { printable, printableJson, printableLines } from "./printable.ts";
import { hasColour, type Style, styleFor } from "./style.ts";
import { type Column, renderTable, renderTsv } from "./table.ts";

/** `pretty` for people, `plain` for pipes (tab-separated, without a heading), `json` for programs. */
export type OutputMode = "pretty" | "plain" | "json";

/** The flags of every command that choose its output. */
export interface OutputFlags {
  readonly json?: boolean;
  readonly plain?: boolean;
  /** Prints only what is at this path of the JSON form. */
  readonly field?: string;
  /** False with --no-color. */
  readonly color?: boolean;
  readonly quiet?: boolean;
  /** Never asks anything. */
  readonly noInput?: boolean;
  /** Takes a confirmation as given. */
  readonly yes?: boolean;
}

export interface Output {
  readonly mode: OutputMode;
  readonly style: Style;
  /** Whether colours are wanted on stderr. */
  readonly isColoured: boolean;
  /** Whether a person watches stderr. */
  readonly isTalkative: boolean;
  /** Prints one object: its JSON form, or the text for people. */
  show(value: object, text: () => string): void;
  /** Draws a table on a terminal and says on stderr which columns did not fit; elsewhere prints tab-separated lines. */
  table(columns: readonly Column[], rows: readonly (readonly string[])[]): Promise<string>;
  /** The text of one object of a stream: a line of JSON. */
  jsonLine(value: object): string;
  /** Prints a list: its JSON form, a table on a terminal, or tab-separated lines. */
  list(value: object, columns: readonly Column[], rows: readonly (readonly string[])[]): Promise<void>;
  /** Prints a note on stderr for people. Silent under --json and --quiet. */
  say(text: string): void;
  /** Says that something is done, after a check mark. */
  done(text: string): void;
  /** Prints a note on stderr that matters under --json too. */
  warn(text: string): void;
  /** Shows a change on stderr. On a terminal it replaces the change before; elsewhere it is a new line. */
  change(line: string): void;
  /** On a terminal's stderr, replaces the line this function wrote before. Does nothing elsewhere. */
  progress(line: string): void;
  /** Removes the line of `progress`. */
  clear(): void;
}

const ERASE_LINE = "\r\u001b[2K";

export async function createOutput(context: Context, flags: OutputFlags): Promise<Output> {
  const { stdout, stderr } = context;
  const mode = modeOf(context, flags);
  const isTalkative = mode !== "json" && flags.quiet !== true;
  const style = await styleFor(context, stdout, flags);
  const talk = await styleFor(context, stderr, flags);
  let hasProgress = false;
  const clear = () => {
    if (hasProgress) stderr.write(ERASE_LINE);
    hasProgress = false;
  };
  // Texts contain names that servers, files and command lines chose.
  const say = (text: string, mark = "") => {
    clear();
    if (isTalkative) stderr.write(`${mark}${printableLines(text)}\n`);
  };
  const picked = (value: object, json: () => string) =>
    flags.field === undefined ? `${json()}\n` : fieldText(value, flags.field, stdout.isTerminal);
  const jsonText = (value: object) => picked(value, () => toJson(value, stdout));
  async function table(columns: readonly Column[], rows: readonly (readonly string[])[]): Promise<string> {
    if (mode !== "pretty") return renderTsv(rows);
    const { text, hidden } = await renderTable(columns, rows, { style, width: widthOf(stdout) });
    if (hidden.length > 0) say(`No room for ${hidden.join(", ")}; --plain and --json print everything.`);
    return text;
  }
  const progress = (line: string) => {
    if (!isTalkative || !stderr.isTerminal) return;
    clear();
    stderr.write(talk.dim(cutText(printable(line), widthOf(stderr) - 1, "end")));
    hasProgress = true;
  };
  return {
    mode,
    style,
    isColoured: hasColour(context, stderr, flags),
    isTalkative,
    show(value, text) {
      clear();
      stdout.write(mode === "json" ? jsonText(value) : text());
    },
    async list(value, columns, rows) {
      clear();
      if (mode === "json") stdout.write(jsonText(value));
      else stdout.write(await table(columns, rows));
    },
    jsonLine: (value) => picked(value, () => printableJson(value)),
    table,
    say: (text) => say(text),
    done: (text) => say(text, `${talk.green("✓")} `),
    warn(text) {
      clear();
      if (flags.quiet !== true) stderr.write(`${talk.yellow("!")} ${printableLines(text)}\n`);
    },
    change: (line) => (stderr.isTerminal ? progress(line) : say(line)),
    progress,
    clear,
  };
}

/** How many characters a line of a terminal has. */
export function widthOf(sink: Sink): number {
  return sink.columns ?? 80;
}

/** Formats JSON: compact for programs, indented for people. Safe for a terminal. */
export function toJson(value: object, sink: Sink): string {
  return printableJson(value, sink.isTerminal ? 2 : undefined);
}

function modeOf({ env, stdout }: Context, flags: OutputFlags): OutputMode {
  if (flags.json === true || flags.field !== undefined) return "json";
  if (flags.plain === true) return "plain";
  const chosen = env.SVC_OUTPUT ?? "";
  if (chosen === "json" || chosen === "plain") return chosen;
  if (chosen !== "" && chosen !== "auto")
    throw usage(`SVC_OUTPUT must be json, plain or auto, got "${chosen}".`);
  return stdout.isTerminal ? "pretty" : "plain";
}
