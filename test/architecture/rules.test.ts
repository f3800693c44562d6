import { describe, expect, test } from "bun:test";
import { fileLengthViolations, functionLengthViolations, medianLengthViolations } from "./lengths.ts";
import {
  anyViolations,
  clockViolations,
  cycleViolations,
  defaultExportViolations,
  editedMessageViolations,
  environmentViolations,
  fetchViolations,
  matrixViolations,
  opaqueImportViolations,
  providerNameViolations,
  registryViolations,
} from "./rules.ts";
import { blank, importsOf, type Sources } from "./source.ts";
import { startViolations } from "./starts.ts";

const tree = (files: Record<string, string>): Sources => new Map(Object.entries(files));
const one = (path: string, text: string): Sources => tree({ [path]: text });

describe("reading source", () => {
  test("comments, strings and regular expressions are blanked, offsets stay", () => {
    const text = `const a = "Date.now()"; // Date.now()\n/* fetch( */ const r = /["'\`//]/; const b = \`x \${f("y")} z\`;`;
    const code = blank(text);
    expect(code).toHaveLength(text.length);
    expect(code).not.toMatch(/Date|fetch/);
    expect(code).toContain("const r = /");
    expect(code).toContain("const b = `");
    expect(code).toContain('${f(" ")}');
  });

  test("a division is not a regular expression", () => {
    expect(blank("const half = total / 2; const call = fetch(x) / 2;")).toContain("fetch(x)");
  });

  test("static, type-only, re-exported, dynamic and required modules are found", () => {
    const text = [
      'import a from "./a.ts";',
      'import type { B } from "./b.ts";',
      'export { c } from "./c.ts";',
      'export type * from "./d.ts";',
      'import "./e.ts";',
      'const f = await import("./f.ts");',
      'type G = import("./g.ts").G;',
      'const h = require("./h.ts");',
      "import {\n  i,\n} from './i.ts';",
      '// import x from "./comment.ts"',
      "const text = 'import x from \"./string.ts\"';",
    ].join("\n");
    const names = importsOf(text).map(({ specifier }) => specifier);
    expect(names).toEqual(["a", "b", "c", "d", "e", "f", "g", "h", "i"].map((name) => `./${name}.ts`));
  });
});

describe("matrix", () => {
  const refused: [string, string][] = [
    ["src/domain/task.ts", 'import type { Row } from "../store/rows.ts";'],
    ["src/domain/task.ts", 'import { createHash } from "node:crypto";'],
    ["src/domain/task.ts", 'import { typeid } from "typeid-js";'],
    ["src/service/create-task.ts", 'import { open } from "../store/open.ts";'],
    ["src/service/create-task.ts", 'import { Hono } from "hono";'],
    ["src/scheduler/scheduler.ts", 'import { createTask } from "../service/create-task.ts";'],
    ["src/http/router.ts", 'export type { Row } from "../store/rows.ts";'],
    ["src/providers/openai.ts", 'const image = await import("../assets/image.ts");'],
    ["src/store/open.ts", 'import { loadConfig } from "../config/config.ts";'],
    ["src/config/config.ts", 'import { createApp } from "../app/app.ts";'],
    ["src/app/app.ts", 'import { run } from "../../cli/main.ts";'],
    ["cli/commands/keys.ts", 'import { open } from "../../src/store/open.ts";'],
    ["cli/commands/keys.ts", 'import { buildExecutable } from "../build.ts";'],
    ["cli/dev/check.ts", 'import chalk from "chalk";'],
    ["src/surprise/thing.ts", ""],
  ];
  test.each(refused)("%s may not contain %s", (path, text) => {
    expect(matrixViolations(one(path, text))).toHaveLength(1);
  });

  const allowed: [string, string][] = [
    ["src/domain/task.ts", 'import type { Micros } from "./money.ts";'],
    [
      "src/service/create-task.ts",
      'import type { Task } from "../domain/task.ts";\nimport { x } from "node:crypto";',
    ],
    [
      "src/http/router.ts",
      'import { Hono } from "hono";\nimport { createTask } from "../service/create-task.ts";',
    ],
    ["src/app/app.ts", 'import { open } from "../store/open.ts";\nimport { VERSION } from "../version.ts";'],
    [
      "cli/commands/keys.ts",
      'import { openStore } from "../../src/app/app.ts";\nimport { print } from "../format/output.ts";',
    ],
  ];
  test.each(allowed)("%s may contain %s", (path, text) => {
    expect(matrixViolations(one(path, text))).toEqual([]);
  });

  test("a module named by an expression is refused", () => {
    expect(opaqueImportViolations(one("src/app/app.ts", "await import(name);"))).toHaveLength(1);
    expect(opaqueImportViolations(one("src/app/app.ts", 'await import("./config.ts");'))).toEqual([]);
  });

  test("a cycle is reported once, with its path", () => {
    const cyclic = tree({
      "src/domain/a.ts": 'import type { B } from "./b.ts";',
      "src/domain/b.ts": 'import type { C } from "./c.ts";',
      "src/domain/c.ts": 'import type { A } from "./a.ts";',
    });
    expect(cycleViolations(cyclic)).toEqual([
      "src/domain/a.ts → src/domain/b.ts → src/domain/c.ts → src/domain/a.ts",
    ]);
  });
});

describe("places", () => {
  test("the environment outside config is a violation, with its line", () => {
    const violations = environmentViolations(one("src/store/open.ts", "\nconst home = process.env.HOME;"));
    expect(violations).toEqual(["src/store/open.ts:2 reads the environment"]);
    expect(environmentViolations(one("cli/client.ts", "Bun.env.X"))).toHaveLength(1);
    expect(environmentViolations(one("src/config/config.ts", "process.env"))).toEqual([]);
    expect(environmentViolations(one("src/store/open.ts", "// process.env"))).toEqual([]);
  });

  test.each([
    "Date.now()",
    "new Date()",
    "new Date",
    "Math.random()",
    "crypto.randomUUID()",
    "Bun.randomUUIDv7()",
    "performance.now()",
  ])("%s outside runtime is a violation", (text) => {
    expect(clockViolations(one("src/scheduler/cleaner.ts", text))).toHaveLength(1);
    expect(clockViolations(one("src/runtime/clock.ts", text))).toEqual([]);
    expect(clockViolations(one("cli/output.ts", text))).toEqual([]);
  });

  test("a date made from a number reads no clock", () => {
    expect(clockViolations(one("src/http/present.ts", "new Date(task.dueAt).toISOString()"))).toEqual([]);
  });

  test.each(["await fetch(url)", "globalThis.fetch(url, { headers })", "return fetch(new Request(a(b)));"])(
    "%s outside egress is a violation",
    (text) => {
      expect(fetchViolations(one("src/providers/openai.ts", text))).toHaveLength(1);
      expect(fetchViolations(one("src/providers/kit/http.ts", text))).toEqual([]);
    },
  );

  test("another HTTP client outside egress is a violation", () => {
    const text = 'import { request } from "node:https";';
    expect(fetchViolations(one("src/providers/openai.ts", text))).toHaveLength(1);
    expect(fetchViolations(one("src/egress/post.ts", text))).toEqual([]);
  });

  test.each([
    "app.fetch(request)",
    "return { fetch(request: Request): Response { } };",
    "fetch(url: string): Promise<Response>;",
  ])("%s is no call of fetch", (text) => {
    expect(fetchViolations(one("src/app/app.ts", text))).toEqual([]);
  });
});

describe("the start of a command", () => {
  const program = (text: string) =>
    tree({
      "cli/program.ts": 'import { define } from "../src/providers/openai/definition.ts";',
      "src/providers/openai/definition.ts": text,
      "src/providers/openai/adapter.ts": "export type Deps = string;\nexport const create = 1;",
    });

  test("may not load an adapter", () => {
    expect(startViolations(program('import { create } from "./adapter.ts"; create;'))).toEqual([
      "src/providers/openai/adapter.ts is loaded by every command",
    ]);
  });

  test.each([
    'const { create } = await import("./adapter.ts");',
    'import type { Deps } from "./adapter.ts";',
  ])("may contain %s", (text) => {
    expect(startViolations(program(text))).toEqual([]);
  });

  test("may not load a command, nor what one loads in its turn", () => {
    const files = (list: string) =>
      tree({
        "cli/program.ts": 'import { COMMANDS } from "./commands.ts"; COMMANDS;',
        "cli/commands.ts": list,
        "cli/commands/top.ts": 'import { render } from "ink"; render;',
      });
    expect(startViolations(files('import { top } from "./commands/top.ts"; top;'))).toEqual([
      "cli/commands/top.ts is loaded by every command",
      "ink is loaded before it is needed",
    ]);
    expect(startViolations(files('const load = () => import("./commands/top.ts"); load;'))).toEqual([
      "ink is loaded before it is needed",
    ]);
  });
});

describe("lists", () => {
  test("a provider outside the list is a violation", () => {
    const violations = registryViolations(
      tree({
        "src/providers/registry.ts":
          'import { openai } from "./openai/definition.ts";\nimport { createHalf } from "./half/adapter.ts";',
        "src/providers/definition.ts": "",
        "src/providers/openai/definition.ts": "",
        "src/providers/forgotten/definition.ts": "",
        "src/providers/half/adapter.ts": "",
        "src/providers/kit/http.ts": "",
      }),
    );
    expect(violations).toEqual([
      "src/providers/forgotten/definition.ts is not imported in src/providers/registry.ts",
      "src/providers/half/definition.ts is not imported in src/providers/registry.ts",
    ]);
  });

  const naming = (text: string) =>
    providerNameViolations(tree({ "src/providers/fal/definition.ts": "", "src/config/config.ts": text }));
  test.each([
    "falBaseUrl",
    "hasFal",
    'providers["fal"]',
    "FAL_KEY",
    "// of fal",
    "providers.fal.baseUrl",
    '"x-fal-id"',
  ])("%s in a room that knows no provider is a violation", (text) => {
    expect(naming(`\n${text}`)).toEqual(["src/config/config.ts:2 names the provider fal"]);
  });

  test.each(["fallback", "false", "default", "fal-image"])("%s names no provider", (text) => {
    expect(naming(text)).toEqual([]);
  });

  test("the kit of providers may name none", () => {
    const kit = { "src/providers/fal/definition.ts": "", "src/providers/kit/http.ts": '"x-fal-request-id"' };
    expect(providerNameViolations(tree(kit))).toEqual(["src/providers/kit/http.ts:1 names the provider fal"]);
  });

  test("a provider's own folder may name it", () => {
    expect(providerNameViolations(one("src/providers/fal/definition.ts", "fal"))).toEqual([]);
  });
});

describe("habits", () => {
  test("a default export is a violation, except in a declaration file", () => {
    expect(defaultExportViolations(one("cli/main.ts", "export default 1;"))).toHaveLength(1);
    expect(defaultExportViolations(one("cli/main.ts", "export { main as default };"))).toHaveLength(1);
    expect(defaultExportViolations(one("cli/build/virtual.d.ts", "export default path;"))).toEqual([]);
  });

  test.each([
    "let a: any;",
    "x as any",
    "const m: Map<string, any> = y;",
    "type A = any;",
    "f<any>()",
    "(a: any[]) => {}",
  ])("%s is a violation", (text) => {
    expect(anyViolations(one("src/app/app.ts", text))).toHaveLength(1);
  });

  test("the word any in a comment, a name or a call is not", () => {
    const text = "// any: any\nPromise.any(list); const anything: unknown = company;";
    expect(anyViolations(one("src/app/app.ts", text))).toEqual([]);
  });

  test("a message that is edited is a violation", () => {
    const edited = [
      "error.message.replace(field, name)",
      "message\n  .replaceAll(a, b)",
      "e?.message?.replace(a, b)",
    ];
    for (const text of edited) expect(editedMessageViolations(one("cli/failure.ts", text))).toHaveLength(1);
    const other = "describe(facts, nameOf); name.replace(a, b); messages.replaceAll(c, d);";
    expect(editedMessageViolations(one("cli/failure.ts", other))).toEqual([]);
  });

  test("a file of 301 lines is a violation, one of 300 is not", () => {
    expect(fileLengthViolations(one("src/app/app.ts", "x\n".repeat(301)))).toHaveLength(1);
    expect(fileLengthViolations(one("src/app/app.ts", "x\n".repeat(300)))).toEqual([]);
  });

  test("more than half of all files above 90 lines are a violation", () => {
    const sized = (...lines: number[]) =>
      tree(Object.fromEntries(lines.map((count, i) => [`src/app/${i}.ts`, "x\n".repeat(count)])));
    expect(medianLengthViolations(sized(1, 91, 300))).toHaveLength(1);
    expect(medianLengthViolations(sized(1, 90, 300))).toEqual([]);
  });

  const body = (lines: number) => "  x();\n".repeat(lines - 2);
  test.each([
    ["a function", (lines: number) => `export function f(): void {\n${body(lines)}}\n`],
    ["an asynchronous one", (lines: number) => `async function f() {\n${body(lines)}}\n`],
    ["one that takes an object", (lines: number) => `function f({\n  a,\n}: Deps) {\n${body(lines - 2)}}\n`],
    ["an arrow function", (lines: number) => `export const f = (a: string) => {\n${body(lines)}};\n`],
    ["a method", (lines: number) => `class A {\n  async f() {\n${body(lines)}  }\n}\n`],
  ])("%s of 61 lines is a violation, one of 60 is not", (_, text) => {
    expect(functionLengthViolations(one("src/app/app.ts", text(61)))).toHaveLength(1);
    expect(functionLengthViolations(one("src/app/app.ts", text(60)))).toEqual([]);
  });

  test("a long table is no function", () => {
    const table = `export const TABLE = {\n${"  a: 1,\n".repeat(99)}};\nconst list = [\n${"  1,\n".repeat(99)}];\n`;
    expect(functionLengthViolations(one("src/app/app.ts", table))).toEqual([]);
  });
});
