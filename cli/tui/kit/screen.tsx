import { render, useInput, usePaste } from "ink";
import type { ReactNode } from "react";
import { createFrames } from "./frames.ts";
import { type KeyName, keysOf } from "./keys.ts";
import { ERASE, type Size, sizeOf, takeTerminal } from "./terminal.ts";

/** A program that fills the screen: a state, what changes it, and how it is drawn. */
export interface ScreenProgram<State, Event> {
  readonly initial: State;
  /** Returns the same object when nothing changed that is to be seen; then nothing is drawn. */
  readonly reduce: (state: State, event: Event) => State;
  readonly draw: (state: State, size: Size) => ReactNode;
  readonly onKey: (key: KeyName, screen: Screen<State, Event>) => void;
  /** Pasted text. It is never read as keys. */
  readonly onPaste?: (text: string, screen: Screen<State, Event>) => void;
  readonly onResize?: (size: Size, screen: Screen<State, Event>) => void;
}

export interface Screen<State, Event> {
  readonly state: () => State;
  readonly size: () => Size;
  /** Applies an event. Several that come together are drawn together, unless a person waits for it. */
  readonly dispatch: (event: Event) => void;
  /** Copies to the clipboard of the terminal, where it has one (OSC 52). */
  readonly copy: (text: string) => void;
  /** Ends the program: the terminal becomes what it was. With an error, `closed` rejects. */
  readonly close: (error?: unknown) => void;
  /** Resolves when the terminal is as it was. */
  readonly closed: Promise<void>;
}

/** Ink only draws: keys, and what is written to the console, are not its business. */
const OWN_KEYS = {
  interactive: true,
  exitOnCtrlC: false,
  patchConsole: false,
  incrementalRendering: true,
  // What happens by itself is held back before; a key is to be seen at once.
  maxFps: 120,
} as const;

/** Takes over the terminal. Nothing else may write to it until `closed`. */
export function openScreen<State, Event>(program: ScreenProgram<State, Event>): Screen<State, Event> {
  let { initial: state } = program;
  let isInHand = false;
  let isOver = false;
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
  const terminal = takeTerminal(() => {
    isOver = true;
    frames.stop();
    process.stdout.off("resize", onResize);
    view.unmount();
  });
  const size = () => sizeOf(process.stdout);
  const frame = () => (
    <Keyboard onKeys={onKeys} onPaste={onPaste} onSuspend={terminal.suspend}>
      {program.draw(state, size())}
    </Keyboard>
  );
  const frames = createFrames(() => view.rerender(frame()));
  /** An action of the person is drawn at once. */
  const inHand = (act: () => void) => {
    const before = state;
    isInHand = true;
    act();
    isInHand = false;
    // Ink would begin anew.
    if (state !== before && !isOver) frames.now();
  };
  const onKeys = (keys: readonly KeyName[]) =>
    inHand(() => {
      for (const key of keys) program.onKey(key, screen);
    });
  const onPaste = (text: string) => inHand(() => program.onPaste?.(text, screen));
  const onResize = () => {
    program.onResize?.(size(), screen);
    // The terminal has moved what was on it: draw all of it again.
    view.clear();
    terminal.stdout.write(ERASE);
    frames.now();
  };
  const screen: Screen<State, Event> = {
    state: () => state,
    size,
    dispatch(event) {
      const next = program.reduce(state, event);
      if (next === state) return;
      state = next;
      if (!isInHand && !isOver) frames.soon();
    },
    copy: (text) => void terminal.stdout.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`),
    close: (error) =>
      void terminal.leave().then(() => (error === undefined ? resolve() : reject(error)), reject),
    closed,
  };
  // Before Ink's own listener, which draws with the new size.
  process.stdout.prependListener("resize", onResize);
  const view = render(frame(), { stdout: terminal.stdout, ...OWN_KEYS });
  // An error while drawing ends Ink.
  view.waitUntilExit().catch((error: unknown) => screen.close(error));
  return screen;
}

function Keyboard(props: {
  readonly onKeys: (keys: readonly KeyName[]) => void;
  readonly onPaste: (text: string) => void;
  readonly onSuspend: () => void;
  readonly children: ReactNode;
}) {
  useInput((input, key) => {
    const keys = keysOf(input, key);
    if (keys.includes("ctrl+z")) props.onSuspend();
    else props.onKeys(keys);
  });
  usePaste(props.onPaste);
  return props.children;
}
