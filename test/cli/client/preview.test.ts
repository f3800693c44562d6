import { beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { type PreviewFlags, preparePreview } from "../../../cli/client/preview.ts";
import type { Context } from "../../../cli/context.ts";
import { createOutput, type OutputFlags } from "../../../cli/format/output.ts";
import { encodeVideo } from "../../../src/studio/encode.ts";
import { createFrame } from "../../../src/studio/sprite.ts";
import { webm } from "../../helpers/media-video.ts";
import { readHalfBlocks, readIterm, readKitty, readSixels, splitByTmux } from "../picture/readers.ts";
import { emptyFolder, fakeContext, fakeSink } from "../support.ts";

const folder = emptyFolder();
const red = join(folder, "red.png");
const blue = join(folder, "blue.webp");
const broken = join(folder, "broken.png");

beforeAll(async () => {
  const create = { width: 200, height: 100, channels: 3 } as const;
  await sharp({ create: { ...create, background: "red" } })
    .png()
    .toFile(red);
  await sharp({ create: { ...create, background: "blue" } })
    .webp()
    .toFile(blue);
  writeFileSync(broken, "\u0089PNG\r\n\u001a\nand no more");
});

interface Scene {
  readonly env?: Record<string, string>;
  readonly flags?: PreviewFlags & OutputFlags;
  readonly paths?: readonly string[];
  /** What the terminal answers when it is asked; absent: standard input is none. */
  readonly answer?: string;
  readonly change?: Partial<Context>;
}

/** Shows files on a terminal of 80 × 24. @returns what it is sent */
async function shown({ env = {}, flags = {}, paths = [red], answer, change }: Scene): Promise<string> {
  const stderr = { ...fakeSink({ isTerminal: true, columns: 80 }), rows: 24 };
  let take = (_bytes: Uint8Array): void => {};
  const keyboard = {
    capture(onBytes: (bytes: Uint8Array) => void) {
      take = onBytes;
      return () => {};
    },
  };
  const base = fakeContext({ isTerminal: true, env: { TERM: "xterm-256color", ...env } });
  const context = { ...base, stderr, ...(answer === undefined ? {} : { keyboard }), ...change };
  const preview = preparePreview(context, await createOutput(context, flags), flags);
  if (answer !== undefined) take(Buffer.from(answer, "latin1"));
  await preview.show(paths);
  return stderr.text();
}

describe("a result is shown", () => {
  test("with half blocks where the terminal is not known", async () => {
    const { width, height, rgba } = await readHalfBlocks(await shown({}));
    expect([width, height, ...rgba.subarray(0, 3)]).toEqual([48, 24, 255, 0, 0]);
  });

  test("in the protocol that the environment names", async () => {
    expect(await readKitty(await shown({ env: { TERM: "xterm-kitty" } }))).toHaveLength(1);
    expect(await readIterm(await shown({ env: { TERM_PROGRAM: "iTerm.app" } }))).toHaveLength(1);
  });

  test("as sixels where the terminal says that it has them", async () => {
    const { width, height } = readSixels(await shown({ answer: "\u001b[6;10;5t\u001b[?62;4c" }));
    expect([width, height]).toEqual([200, 100]);
    const none = await shown({ answer: "\u001b[?62;22c" });
    expect((await readHalfBlocks(none.replaceAll("\u001b[16t\u001b[c", ""))).width).toBe(48);
  });

  test.each([
    ["kitty", { env: { SVC_PREVIEW: "kitty" } }, "\u001b_G"],
    [
      "kitty, although the environment names another",
      { env: { TERM_PROGRAM: "iTerm.app" }, flags: { preview: "kitty" } },
      "\u001b_G",
    ],
    [
      "iterm, although a variable says kitty",
      { env: { SVC_PREVIEW: "kitty" }, flags: { preview: "iterm" } },
      "\u001b]1337;",
    ],
    [
      "half, although there should be no colours",
      { env: { NO_COLOR: "1" }, flags: { preview: "half" } },
      "▀",
    ],
    [
      "sixel, although stdout is a pipe",
      { flags: { preview: "sixel" }, change: { stdout: fakeSink() } },
      "\u001bP",
    ],
  ] as const)("as asked for: %s", async (_name, scene, begin) => {
    expect(await shown(scene)).toContain(begin);
  });

  test("with others on one sheet, and without those that cannot be drawn", async () => {
    const text = Bun.stripANSI(await shown({ paths: [red, broken, blue] }));
    expect(text).toMatch(/^1 red\.png +3 blue\.webp$/m);
    expect(text).not.toContain("broken");
  });

  test("as a video's first picture, in its colours, and how long it is", async () => {
    const path = join(folder, "wave.mp4");
    const frame = createFrame(96, 48);
    // Pure green in BT.709.
    for (const [plane, value] of [
      [frame.y, 173],
      [frame.u, 42],
      [frame.v, 26],
    ] as const)
      plane.fill(value);
    writeFileSync(path, await encodeVideo({ frame, frameCount: 36 }, () => {}));
    const text = await shown({ paths: [path] });
    const { width, height, rgba } = await readHalfBlocks(text);
    expect([width, height]).toEqual([48, 24]);
    expect([...rgba.subarray(0, 3)].map((value) => Math.round(value / 16))).toEqual([0, 16, 0]);
    expect(text).toEndWith("\nwave.mp4  96×48, 1.5 s\n");
  });

  test("as words, where a video cannot be decoded", async () => {
    const path = join(folder, "wave.webm");
    writeFileSync(path, await webm({ width: 64, height: 48, frames: 16, framesPerSecond: 8 }));
    expect(await shown({ paths: [path] })).toBe("wave.webm  64×48, 2 s\n");
    expect(Bun.stripANSI(await shown({ paths: [path, red] }))).toEndWith(
      "2 red.png\n1 wave.webm  64×48, 2 s\n",
    );
  });
});

describe("a profile", () => {
  const home = emptyFolder();
  const profile = (preview: string) => ({ server: "http://127.0.0.1:8787", preview });
  beforeAll(() => {
    mkdirSync(join(home, "svc"), { mode: 0o700 });
    const profiles = { default: profile("kitty"), plain: profile("none"), odd: profile("jpeg") };
    writeFileSync(join(home, "svc/profiles.json"), JSON.stringify({ profiles }), { mode: 0o600 });
  });
  const XDG_CONFIG_HOME = home;

  test.each([
    ["says how results are shown", {}, {}, "\u001b_G"],
    ["gives way to the variable", { SVC_PREVIEW: "iterm" }, {}, "\u001b]1337;"],
    ["gives way to the flag", {}, { preview: "half" }, "▀"],
    ["that a flag names goes before the variable", { SVC_PREVIEW: "iterm" }, { profile: "plain" }, ""],
    ["that says what no preview is says nothing", {}, { profile: "odd" }, "▀"],
    ["that is not there is no matter of a preview", {}, { profile: "nobody" }, "▀"],
  ] as const)("%s", async (_name, env, flags, begin) => {
    const text = await shown({ env: { XDG_CONFIG_HOME, ...env }, flags });
    expect(["\u001b_G", "\u001b]1337;", "▀"].find((each) => text.includes(each)) ?? "").toBe(begin);
  });
});

test("a terminal that cannot be asked is no error", async () => {
  const keyboard = {
    capture() {
      throw new Error("EIO");
    },
  };
  expect(await shown({ change: { keyboard } })).toContain("▀");
});

describe("under tmux", () => {
  /** Stands in for tmux: it prints what tmux would. */
  const tmuxThatSays = (text: string) => {
    const bin = emptyFolder();
    writeFileSync(
      join(bin, "tmux"),
      `#!/bin/sh\n[ "$1 $2 $3" = "show-options -t %7" ] && printf '${text}'\n`,
    );
    chmodSync(join(bin, "tmux"), 0o755);
    return { TMUX: "/tmp/none,1,0", TMUX_PANE: "%7", TERM: "tmux-256color", PATH: `${bin}:/bin:/usr/bin` };
  };

  test.each(["on\\nxterm-kitty\\n", "all\\nxterm-ghostty\\n"])(
    "that says %p, kitty's pictures are sent past it",
    async (says) => {
      const { handedOn, kept } = splitByTmux(await shown({ env: tmuxThatSays(says) }));
      expect(await readKitty(handedOn)).toHaveLength(1);
      expect(kept).toContain("\u{10eeee}");
    },
  );

  test.each(["off\\nxterm-kitty\\n", "on\\nxterm-256color\\n", "\\n", ""])(
    "that says %p, half blocks are drawn",
    async (says) => {
      const text = await shown({ env: tmuxThatSays(says), answer: "\u001b[?62;4c" });
      expect((await readHalfBlocks(text)).width).toBe(48);
    },
  );

  test("that is not installed, half blocks are drawn", async () => {
    const text = await shown({ env: { TMUX: "/tmp/none,1,0", PATH: "/nowhere" } });
    expect((await readHalfBlocks(text)).width).toBe(48);
  });
});

test("a picture that says it has more pixels than memory should hold is not decoded", async () => {
  const path = join(folder, "huge.png");
  const file = readFileSync(red);
  file.writeUInt32BE(20_000, 16);
  file.writeUInt32BE(20_000, 20);
  file.writeUInt32BE(Bun.hash.crc32(file.subarray(12, 29)), 29);
  writeFileSync(path, file);
  const text = await shown({ paths: [path], flags: { verbose: true } });
  expect(text).toMatch(/^No preview of huge\.png: .*pixel limit/);
});

describe("nothing is sent to the terminal", () => {
  test.each([
    ["under --preview none", { flags: { preview: "none" } }],
    ["under SVC_PREVIEW=none", { env: { SVC_PREVIEW: "none" } }],
    ["when stdout is a pipe", { change: { stdout: fakeSink() } }],
    ["under --json", { flags: { json: true } }],
    ["under --json with a protocol", { flags: { json: true, preview: "kitty" } }],
    ["under --plain", { flags: { plain: true } }],
    ["under --quiet", { flags: { quiet: true, preview: "kitty" } }],
    ["under --no-color", { flags: { color: false } }],
    ["under NO_COLOR", { env: { NO_COLOR: "1" } }],
    ["on a dumb terminal", { env: { TERM: "dumb" } }],
    ["for a file that is damaged", { paths: [broken] }],
    ["for a file that is gone", { paths: [join(folder, "gone.png")] }],
    ["for no files", { paths: [] }],
  ] as const satisfies readonly (readonly [string, Scene])[])("%s", async (_name, scene) => {
    expect(await shown(scene)).toBe("");
  });

  test("when stderr is none, whatever is asked for", async () => {
    const stderr = fakeSink();
    for (const preview of ["kitty", "auto"] as const) await shown({ flags: { preview }, change: { stderr } });
    expect(stderr.text()).toBe("");
  });
});

test("-v says why there is no preview, on one line that is safe", async () => {
  const path = join(folder, "bad\u001b[2J.png");
  writeFileSync(path, "no picture");
  const text = await shown({ paths: [path], flags: { verbose: true } });
  expect(text).toMatch(/^No preview of bad\\u001b\[2J\.png: [^\n]+\n$/);
});

test("SVC_PREVIEW must be one of the choices", async () => {
  await expect(shown({ env: { SVC_PREVIEW: "jpeg" } })).rejects.toThrow(
    'SVC_PREVIEW must be one of auto, none, kitty, iterm, sixel, half, got "jpeg".',
  );
});
