import { expect, test } from "bun:test";
import { join } from "node:path";
import { runProgram } from "../../cli/program.ts";
import { DOUBTFUL, PLAIN } from "../catalog/beginning/workflows.ts";
import { emptyFolder, fakeContext, svc } from "./support.ts";

async function folder(workflow: unknown = PLAIN, name = "Flux dev (1).json") {
  const cwd = emptyFolder();
  await Bun.write(join(cwd, name), typeof workflow === "string" ? workflow : JSON.stringify(workflow));
  return cwd;
}
const init = (cwd: string, ...args: string[]) =>
  svc(["models", "init", "--from", "Flux dev (1).json", ...args], { cwd });

test("a workflow becomes a manifest by the name of its file, once", async () => {
  const cwd = await folder();
  const first = await init(cwd);
  expect(first).toEqual({
    ...{ exitCode: 0, stdout: "flux-dev-1.yaml\n" },
    stderr: "Slots for prompt, negative_prompt, size, n, seed. Look at what is marked with TODO.\n",
  });
  expect(await Bun.file(join(cwd, "flux-dev-1.yaml")).text()).toContain('id: "flux-dev-1"');
  expect(await init(cwd)).toEqual({
    ...{ exitCode: 7, stdout: "" },
    stderr:
      "error: flux-dev-1.yaml is there already.\n  Give -o FILE for another one, or --force to write over it.\n",
  });
  const other = await init(cwd, "--id", "House.1", "-o", "models/house.yaml", "--json");
  expect(JSON.parse(other.stdout)).toEqual({
    ...{ model: "House.1", kind: "image", file: join(cwd, "models/house.yaml"), guesses: 0 },
    slots: ["prompt", "negative_prompt", "size", "n", "seed"],
  });
});

test("on a terminal it asks about what could be meant in several ways, until the answer is one", async () => {
  const cwd = await folder(DOUBTFUL);
  const typed = ["4", "x", "3", "", "2", "3", "2"];
  const context = fakeContext({ cwd, isTerminal: true, columns: 100, typed });
  const args = ["models", "init", "--from", "Flux dev (1).json", "--id", "mine"];
  expect(await runProgram(args, context)).toBe(0);
  const asked = context.stderr.text();
  expect(asked).toContain(
    'What is the prompt?\n  1  all of them\n  2  node 6 (CLIPTextEncode): "a glass bottle"\n  3  node 16',
  );
  expect(asked.match(/1 to \d \[1\]: /g)).toHaveLength(7);
  const text = await Bun.file(join(cwd, "mine.yaml")).text();
  expect(text).toContain('prompt: { node: "16", input: "text" }');
  expect(text).toContain('outputs: ["19"]');
  expect(text).not.toContain("a guess");
});

test.each([["--no-input"], ["--json"]])(
  "with %s nobody is asked, and what was chosen is marked",
  async (flag) => {
    const cwd = await folder(DOUBTFUL);
    const context = fakeContext({ cwd, isTerminal: true, typed: ["2"] });
    const args = ["models", "init", "--from", "Flux dev (1).json", "--id", "mine", flag];
    expect(await runProgram(args, context)).toBe(0);
    expect(context.stderr.text()).not.toContain("What is");
    const text = await Bun.file(join(cwd, "mine.yaml")).text();
    // Five choices, of which one is an image and its mask.
    expect(text.match(/TODO a guess/g)).toHaveLength(6);
  },
);

test.each([
  [
    { nodes: [], links: [] },
    [],
    1,
    "Flux dev (1).json is a workflow as the editor saves it. Export it from the editor by File > Export (API)",
  ],
  ["not json", [], 1, "Flux dev (1).json is no JSON: "],
  [`{"a": "${"x".repeat(5 * 1024 * 1024)}"}`, [], 1, "Flux dev (1).json is larger than 1048576 bytes."],
  [PLAIN, ["--id", "a b"], 2, "--id is none. An id has up to 100 letters"],
  [PLAIN, ["--from", "gone.json"], 5, "There is no file gone.json."],
  [PLAIN, ["--from", "."], 2, "The name of . makes no id."],
] as [unknown, string[], number, string][])(
  "what it cannot begin with is told: %#",
  async (workflow, args, exitCode, told) => {
    const cwd = await folder(workflow);
    const ended = await init(cwd, ...args);
    expect(ended.exitCode).toBe(exitCode);
    expect(ended.stderr).toContain(told);
  },
);
