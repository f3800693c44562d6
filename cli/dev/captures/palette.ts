/** The colours of the window that captures are shown in. They can be read on its dark paper, which pages in light and dark both suit. */
export const INK = "#d7dde5";
export const PAPER = "#11161d";

/** The sixteen colours that a theme chooses. */
const NAMED = [
  ...["#4c566a", "#ff7b72", "#7ee787", "#e3b341", "#79b8ff", "#d2a8ff", "#56d4dd", "#c9d1d9"],
  ...["#8b949e", "#ffa198", "#a5f3ae", "#f2cc60", "#a5d6ff", "#e2c5ff", "#8be9f0", "#ffffff"],
] as const;

/** @returns `#rrggbb`, or undefined for the terminal's own colour */
export function colourOf(isRgb: boolean, isPalette: boolean, value: number): string | undefined {
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  if (!isPalette) return undefined;
  return NAMED[value] ?? hex(value < 232 ? cube(value - 16) : grey(value - 232));
}

/** Six steps of each of red, green and blue. */
function cube(index: number): number[] {
  return [Math.floor(index / 36), Math.floor(index / 6) % 6, index % 6].map((step) =>
    step === 0 ? 0 : 55 + 40 * step,
  );
}

const grey = (step: number): number[] => Array(3).fill(8 + 10 * step);

const hex = (rgb: readonly number[]): string =>
  `#${rgb.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
