/** Draws at once, or soon: changes that come together are drawn together. */
export interface Frames {
  /** For what a person did. */
  now(): void;
  /** For what happened by itself. */
  soon(): void;
  stop(): void;
}

/** Ten frames a second are enough for numbers that change. */
const FRAME_MS = 100;

export function createFrames(draw: () => void): Frames {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    now() {
      stop();
      draw();
    },
    soon() {
      timer ??= setTimeout(() => {
        timer = undefined;
        draw();
      }, FRAME_MS);
    },
    stop,
  };
}
