import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { createProgram } from "../../cli/program.ts";
import { scripts } from "../../package.json";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { fakeContext } from "../cli/support.ts";
import { type Block, blocksOf, commandsOf, documents, ROOT, readDocument } from "./blocks.ts";

const README_LINES = 150;
const program = await createProgram(fakeContext());

for (const path of await documents()) {
  const markdown = await readDocument(path);
  const blocks = blocksOf(markdown);

  test(`every block of ${path} can be parsed`, async () => {
    expect((await Promise.all(blocks.map(syntaxProblem))).filter((each) => each !== undefined)).toEqual([]);
  });

  test(`every command and flag in ${path} exists`, () => {
    expect(blocks.filter(isShell).flatMap((block) => flagProblems(block, program))).toEqual([]);
  });

  test(`every script that ${path} runs is in package.json`, () => {
    const named = [...markdown.matchAll(/\bbun(?:@[\d.]+)? run ([\w:]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  test(`every link of ${path} leads somewhere`, async () => {
    const links = [...markdown.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = ""]) => target);
    const broken = await Promise.all(links.map((link) => isBroken(path, link)));
    expect(links.filter((_, i) => broken[i])).toEqual([]);
  });

  test(`every file that ${path} names is there`, () => {
    const named = [...markdown.matchAll(/`((?:src|cli|test|docs|migrations)\/[\w./-]*)`/g)].map(
      ([, name = ""]) => name,
    );
    expect(named.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });
}

test("the README is a screenful and a half", async () => {
  expect((await readDocument("README.md")).trimEnd().split("\n").length).toBeLessThanOrEqual(README_LINES);
});

test("the README counts providers and their models rightly", async () => {
  const others = PROVIDERS.filter(({ id }) => id !== "sandbox");
  const catalog = createCatalog({ providers: PROVIDERS.map(({ id }) => id) });
  const real = catalog.all().filter(({ routes }) => routes.some(({ provider }) => provider !== "sandbox"));
  expect(await readDocument("README.md")).toContain(`There are ${others.length}, with ${real.length} models`);
});

test("every room of the source is in the architecture's table", async () => {
  const architecture = await readDocument("docs/architecture.md");
  const files = await Array.fromAsync(new Bun.Glob("src/*/**/*.ts").scan({ cwd: ROOT }));
  const rooms = [...new Set(files.map((file) => `src/${file.split("/")[1]}/`))];
  expect(rooms.filter((room) => !architecture.includes(`| \`${room}\` |`))).toEqual([]);
});

test("every command is in the tables of docs/operating.md", async () => {
  const tables = (await readDocument("docs/operating.md")).split("\n").filter((line) => line.startsWith("|"));
  const named = [...tables.join("\n").matchAll(/`svc ([a-z-]+)(?: ([a-z-]+(?:\\\|[a-z-]+)*))?/g)].flatMap(
    ([, group = "", words]) => [group, ...(words?.split("\\|") ?? []).map((word) => `${group} ${word}`)],
  );
  const there = program.commands.flatMap((group) => [
    group.name(),
    ...group.commands.map((each) => `${group.name()} ${each.name()}`),
  ]);
  expect(there.filter((command) => !named.includes(command))).toEqual([]);
});

const isShell = ({ language }: Block) => language === "sh" || language === "console";

async function syntaxProblem(block: Block): Promise<string | undefined> {
  const at = (problem: unknown) => `Line ${block.line}: ${problem}`;
  try {
    switch (block.language) {
      case "json":
        JSON.parse(block.text);
        return undefined;
      case "yaml":
        Bun.YAML.parse(block.text);
        return undefined;
      case "js":
        new Bun.Transpiler({ loader: "js" }).transformSync(block.text);
        return undefined;
      case "sh":
      case "console": {
        const bash = Bun.spawn(["bash", "-n"], { stdin: new Blob([commandsOf(block)]), stderr: "pipe" });
        const problem = await bash.stderr.text();
        return (await bash.exited) === 0 ? undefined : at(problem);
      }
      default:
        return undefined;
    }
  } catch (error) {
    return at(error);
  }
}

/** Commands and flags of svc that the executable does not have. */
function flagProblems(block: Block, program: Command): string[] {
  const text = commandsOf(block)
    .replaceAll("\\\n", " ")
    .replace(/"[^"]*"|'[^']*'/g, "x")
    .replace(/(^|\s)#.*$/gm, "");
  return [...text.matchAll(/(?<![\w/.-])svc ([^\n|;)#&]*)/g)].flatMap(([, rest = ""]) => {
    const words = rest.trim().split(/\s+/);
    let command: Command = program;
    while (command.commands.length > 0) {
      const next = command.commands.find(
        (each) => each.name() === words[0] || each.aliases().includes(words[0] ?? ""),
      );
      if (next === undefined) break;
      command = next;
      words.shift();
    }
    if (command.commands.length > 0 && words[0] !== undefined && !words[0].startsWith("-")) {
      return [`Line ${block.line}: there is no command svc ${rest.trim()}`];
    }
    const known = new Set(command.options.flatMap(({ short, long }) => [short, long]));
    return words
      .map((word) => word.split("=")[0] ?? "")
      .filter((word) => /^--?[a-z]/.test(word) && word !== "--help" && !known.has(word))
      .map((flag) => `Line ${block.line}: svc ${command.name()} has no flag ${flag}`);
  });
}

async function isBroken(from: string, link: string): Promise<boolean> {
  const [file = "", anchor] = link.split("#");
  const path = file === "" ? from : join(dirname(from), file);
  if (!existsSync(join(ROOT, path))) return true;
  return anchor !== undefined && !anchorsOf(await readDocument(path)).has(anchor);
}

/** As GitHub makes them of headings. */
function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}
