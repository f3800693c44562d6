/*
 * Pictures of terminals for the documents, made by running the program: `bun run captures [name…]`. Plays every scene of
 * captures/scenes.ts with the executable, and writes what the screen shows to docs/captures/, as text and as SVG.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { SCENES } from "./captures/scenes.ts";
import { textOf, wrapLines } from "./captures/screen.ts";
import { openStage, SHOWN_PORT } from "./captures/stage.ts";
import { createSteadier } from "./captures/steady.ts";
import { renderSvg } from "./captures/svg.ts";
import { currentExecutable } from "./executable.ts";
import { ROOT, say } from "./steps.ts";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !SCENES.some((scene) => scene.name === name));
if (unknown.length > 0) throw new Error(`There is no scene ${unknown.join(", ")}.`);

const executable = currentExecutable();
const folder = mkdtempSync(join(tmpdir(), "svc-captures-"));
const port = freePort();
const stage = openStage({ folder, port, env: environment() });
const target = join(ROOT, "docs/captures");
mkdirSync(target, { recursive: true });
try {
  const steady = createSteadier({ folder, port, nowMs: Date.now() });
  // All are played, as later scenes go on where earlier ones end.
  for (const scene of SCENES) {
    const screen = await stage.play(scene);
    const lines = wrapLines(screen.lines().map(steady), scene.columns);
    if (wanted.length > 0 && !wanted.includes(scene.name)) continue;
    writeFileSync(join(target, `${scene.name}.txt`), lines.map((line) => `${textOf(line)}\n`).join(""));
    writeFileSync(join(target, `${scene.name}.svg`), renderSvg(lines, scene.title));
    say(`docs/captures/${scene.name}.{txt,svg}`);
  }
} finally {
  await stage.close();
  rmSync(folder, { recursive: true, force: true });
}

function environment(): Record<string, string> {
  return {
    PATH: `${dirname(executable)}${delimiter}${process.env.PATH ?? ""}`,
    HOME: folder,
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    TZ: "UTC",
    LANG: "C.UTF-8",
    // No terminal answers here.
    SVC_PREVIEW: "half",
    SVC_PORT: String(port),
    SVC_SERVER: `http://127.0.0.1:${port}`,
  };
}

/** The port that is shown, or else another of four digits, as everything is to stay in its place. */
function freePort(): number {
  for (let port = SHOWN_PORT; port < 10_000; port++) {
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // Taken: try the next one.
    }
  }
  throw new Error("No port of four digits is free.");
}
