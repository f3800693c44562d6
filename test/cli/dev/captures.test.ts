import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SCENES } from "../../../cli/dev/captures/scenes.ts";
import { createScreen, type Line, textOf, wrapLines } from "../../../cli/dev/captures/screen.ts";
import { createSteadier } from "../../../cli/dev/captures/steady.ts";
import { renderSvg } from "../../../cli/dev/captures/svg.ts";
import { documents, ROOT, readDocument } from "../../docs/blocks.ts";
import { elementsOf } from "./xml.ts";

const NOW = Date.UTC(2027, 0, 1, 23, 59);

async function linesOf(text: string, columns = 60): Promise<Line[]> {
  const screen = createScreen(columns, 5);
  await screen.write(text.replaceAll("\n", "\r\n"));
  return screen.lines();
}

const svgOf = async (text: string) => elementsOf(renderSvg(await linesOf(text), "a <title> & more"));

describe("an SVG of a screen", () => {
  test("is well-formed whatever is on the screen", async () => {
    const elements = await svgOf('<b>&amp;</b> "quoted" \u001b]0;title\u0007 \u0001 🙂 日本 عربي');
    expect(elements.find(({ name }) => name === "title")?.text).toBe("a <title> & more");
    const texts = elements.filter(({ name }) => name === "text").map(({ text }) => text);
    expect(texts.join(" ")).toContain('<b>&amp;</b> "quoted"');
    expect(texts).toContain("日");
  });

  test("needs no other file and runs nothing", async () => {
    const elements = await svgOf("x");
    const names = new Set(elements.map(({ name }) => name));
    expect([...names].sort()).toEqual(["circle", "g", "rect", "svg", "text", "title"]);
    const attributes = new Set(elements.flatMap((element) => Object.keys(element.attributes)));
    expect([...attributes].filter((name) => /^on|href|src|style/.test(name))).toEqual([]);
  });

  test("puts every word at its column, with its colours", async () => {
    const elements = await svgOf("\u001b[31;1mred\u001b[0m    plain \u001b[38;2;1;2;3mown\u001b[0m");
    const [, red, plain, own] = elements.filter(({ name }) => name === "text");
    expect([red?.text, red?.attributes.fill, red?.attributes["font-weight"]]).toEqual([
      "red",
      "#ff7b72",
      "bold",
    ]);
    expect([plain?.text, plain?.attributes.fill]).toEqual(["plain", undefined]);
    expect([own?.text, own?.attributes.fill]).toEqual(["own", "#010203"]);
    const columns = [red, plain, own].map((element) => (Number(element?.attributes.x) - 14) / 8.4);
    expect(columns.map(Math.round)).toEqual([0, 7, 13]);
  });

  test("draws half blocks as two areas of a cell", async () => {
    const elements = await svgOf("\u001b[38;2;255;0;0m\u001b[48;2;0;0;255m▀▀\u001b[0m");
    const areas = elements.filter(({ name, attributes }) => name === "rect" && attributes.rx === undefined);
    expect(areas.map(({ attributes }) => [attributes.fill, attributes.width, attributes.height])).toEqual([
      ["#0000ff", "16.8", "18"],
      ["#ff0000", "16.8", "9"],
    ]);
  });
});

describe("a capture stays the same from run to run", () => {
  const steady = async (text: string, columns?: number) => {
    const steadier = createSteadier({ folder: "/tmp/made-up", port: 8790, nowMs: NOW });
    return wrapLines((await linesOf(text, columns)).map(steadier), columns ?? 60).map(textOf);
  };

  test("ids differ where they differed, and only there", async () => {
    const [first, second] = ["task_01m7z8zvfpegjs21bj52wsn618", "task_01m7z8zvfpegjs21bj52wsn619"];
    const [a, b, c] = await steady(`${first}\n${second}\n${first}`);
    expect([a === c, a === b, a?.length]).toEqual([true, false, first.length]);
  });

  test("no key is left, even where the line breaks in it", async () => {
    const key = `sk-svc-${"aB3".repeat(12)}xy`;
    const text = (await steady(`a key: ${key}`, 20)).join("");
    expect(text).toBe("a key: sk-svc-EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXA");
  });

  test("folders and ports are those of the documents", async () => {
    expect(await steady("/tmp/made-up/data  http://127.0.0.1:8790/v1")).toEqual([
      "/home/ada/data     http://127.0.0.1:8787/v1",
    ]);
  });

  test("times are noon, days stay apart, and columns stay where they are", async () => {
    expect(await steady("2027-01-01 23:58:01Z  a\n2027-04-01 08:00:00Z  b")).toEqual([
      "2026-11-25 12:00:00Z  a",
      "2027-02-23 12:00:00Z  b",
    ]);
    expect(await steady("took 1204 ms  x\ntook 12 ms    x\nReady in 7 ms.")).toEqual([
      "took 84 ms    x",
      "took 84 ms    x",
      "Ready in 84 ms.",
    ]);
    expect(await steady("http://127.0.0.1:8790/v1 1798761480")).toEqual([
      "http://127.0.0.1:8787/v1 1795608000",
    ]);
  });
});

describe("the captures in docs", () => {
  const files = readdirSync(join(ROOT, "docs/captures")).sort();

  test("are those of the scenes, as text and as SVG", () => {
    expect(files).toEqual(SCENES.flatMap(({ name }) => [`${name}.svg`, `${name}.txt`]).sort());
  });

  test("are each shown in a document", async () => {
    const pages = await Promise.all((await documents()).map(readDocument));
    const text = pages.join("\n");
    expect(
      SCENES.filter(({ name }) => !text.includes(`captures/${name}.svg)`)).map(({ name }) => name),
    ).toEqual([]);
  });

  test.each(files)("%s is whole and holds no secret", (file) => {
    const text = readFileSync(join(ROOT, "docs/captures", file), "utf8");
    if (file.endsWith(".svg")) expect(elementsOf(text).length).toBeGreaterThan(10);
    else expect(text.trim()).not.toBe("");
    expect(/(?:sk|mt)-svc-(?!EXAM)[0-9A-Za-z]+/.exec(text)?.[0]).toBeUndefined();
  });
});
