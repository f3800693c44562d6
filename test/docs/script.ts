import { type Block, shownIn } from "./blocks.ts";
import { missingFromJson, missingLine } from "./compare.ts";

/** Begins every line that the script prints about itself. */
const MARK = "\u001e";

const PREAMBLE = `
set -o pipefail
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null' EXIT
mark() { printf '${MARK}%s\\n' "$1"; }
until_ready() {
  for ((tries = 0; tries < 400; tries++)); do
    if "$@" 2>/dev/null; then return; fi
    sleep 0.05
  done
  echo "not ready: $*"
  exit 1
}
is_served() { curl -sf "http://127.0.0.1:$1/readyz" >/dev/null; }
is_open() { (: <"/dev/tcp/127.0.0.1/$1"); }
`;

/** One bash script of everything in a document that is run. What blocks define, later ones see. */
export function scriptOf(blocks: readonly Block[], runtime: string): string {
  const parts = blocks.map((block) => {
    if (block.treatment.kind === "run")
      return block.language === "console" ? shown(block) : plain(block, runtime);
    if (block.treatment.kind === "background") return background(block, runtime, block.treatment.port);
    return "";
  });
  return [
    PREAMBLE,
    ...parts,
    ...blocks.map((block, i) => lastLines(block, blocks[i + 1])),
    `mark "end"`,
  ].join("\n");
}

function plain(block: Block, runtime: string): string {
  return `mark "begin ${block.line}"\nset -e\n${codeOf(block, runtime)}\nset +e\nmark "exit 0"`;
}

function shown(block: Block): string {
  return shownIn(block)
    .map(({ command }, i) => `mark "begin ${block.line}.${i}"\n${command}\nmark "exit $?"`)
    .join("\n");
}

function background(block: Block, runtime: string, port: number | undefined): string {
  const log = logOf(block);
  const isReady = /^svc serve/m.test(block.text)
    ? `is_served ${port}`
    : port !== undefined
      ? `is_open ${port}`
      : `test -s ${log}`;
  return `mark "begin ${block.line}"\n(\n${codeOf(block, runtime)}\n) >${log} 2>&1 &\nuntil_ready ${isReady}\nmark "exit 0"`;
}

const logOf = (block: Block) => `background-${block.line}.log`;

/** Waits until a program in the background has printed as much as the document shows. */
function lastLines(block: Block, next: Block | undefined): string {
  if (block.treatment.kind !== "background" || next?.treatment.kind !== "output") return "";
  const count = next.text.split("\n").filter((line) => line.trim() !== "" && line.trim() !== "…").length;
  return `has_lines() { test "$(wc -l <${logOf(block)})" -ge ${count}; }\nuntil_ready has_lines`;
}

function codeOf({ language, text, line }: Block, runtime: string): string {
  if (language !== "js") return text;
  return `cat >block-${line}.mjs <<'END_OF_BLOCK'\n${text}\nEND_OF_BLOCK\n${quoted(runtime)} block-${line}.mjs`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * What is wrong with a run of `scriptOf`, as lines for people; empty when everything went as the document says.
 *
 * @param printedBy what a background block of a line has printed
 */
export function problemsOf(
  blocks: readonly Block[],
  transcript: string,
  printedBy: (line: number) => string,
): string[] {
  const ran = outputsIn(transcript);
  const problems = blocks.flatMap((block, i) => problemsOfBlock(block, blocks[i - 1], ran, printedBy));
  return problems.length > 0 || transcript.includes(`${MARK}end`) ? problems : ["The script ended early."];
}

interface Ran {
  readonly output: string;
  /** undefined when the script ended there. */
  readonly exitCode: number | undefined;
}

function outputsIn(transcript: string): Map<string, Ran> {
  const parts = transcript.split(MARK).map((part) => {
    const [head = "", ...rest] = part.split("\n");
    return { head: head.trim(), output: rest.join("\n") };
  });
  return new Map(
    parts.flatMap(({ head, output }, i): [string, Ran][] => {
      if (!head.startsWith("begin ")) return [];
      const [, code] = /^exit (\d+)$/.exec(parts[i + 1]?.head ?? "") ?? [];
      return [
        [head.slice("begin ".length), { output, exitCode: code === undefined ? undefined : Number(code) }],
      ];
    }),
  );
}

function problemsOfBlock(
  block: Block,
  before: Block | undefined,
  ran: ReadonlyMap<string, Ran>,
  printedBy: (line: number) => string,
): string[] {
  const { line, treatment, language } = block;
  if (treatment.kind === "output" && before !== undefined) {
    const isInBackground = before.treatment.kind === "background";
    const output = isInBackground ? printedBy(before.line) : (ran.get(String(before.line))?.output ?? "");
    const missing =
      language === "json" ? missingFromJson(block.text, output) : missingLine(block.text.split("\n"), output);
    return missing === undefined ? [] : [`Line ${line}: expected\n  ${missing}\nin\n${output}`];
  }
  if (treatment.kind !== "run" && treatment.kind !== "background") return [];
  if (language !== "console") {
    const { exitCode, output = "" } = ran.get(String(line)) ?? {};
    if (exitCode === 0) return [];
    return [
      `Line ${line}: the block failed\n${output}${treatment.kind === "background" ? printedBy(line) : ""}`,
    ];
  }
  return shownIn(block).flatMap(({ command, output: expected, exitCode }, i) => {
    const { exitCode: actual, output = "" } = ran.get(`${line}.${i}`) ?? {};
    const missing = missingLine(expected, output);
    if (actual !== exitCode)
      return [`Line ${line}: \`${command}\` ended with ${actual}, not ${exitCode}\n${output}`];
    return missing === undefined
      ? []
      : [`Line ${line}: \`${command}\` should print\n  ${missing}\nbut prints\n${output}`];
  });
}
