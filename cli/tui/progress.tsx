import { Box, render, Text } from "ink";

/** The state of a task at one moment. */
export interface Moment {
  readonly id: string;
  readonly status: string;
  /** 0-100. */
  readonly progress: number;
  readonly elapsedSec: number;
}

const CELLS = 16;

/** `▕██████░░░░░░░░░░▏`, one cell per sixteenth. */
export function bar(progress: number): string {
  const done = Math.max(0, Math.min(CELLS, Math.floor((progress / 100) * CELLS)));
  return `▕${"█".repeat(done)}${"░".repeat(CELLS - done)}▏`;
}

interface Look {
  readonly isColoured: boolean;
}

function Progress({ id, status, progress, elapsedSec, isColoured }: Moment & Look) {
  return (
    <Box gap={1}>
      <Text>{id}</Text>
      <Text {...(isColoured ? { color: "cyan" } : {})}>{bar(progress)}</Text>
      <Text>
        {status} {progress} %
      </Text>
      <Text dimColor={isColoured}>{elapsedSec} s</Text>
    </Box>
  );
}

/** Draws in place on a terminal's stderr. The command keeps handling Ctrl-C. */
export function startProgress(first: Moment, { isColoured }: Look) {
  const view = render(<Progress {...first} isColoured={isColoured} />, {
    stdout: process.stderr,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  return {
    show: (moment: Moment) => view.rerender(<Progress {...moment} isColoured={isColoured} />),
    /** Clears the line for the output that follows. */
    stop() {
      view.clear();
      view.unmount();
    },
  };
}
