import { hostname } from "node:os";
import type { Cell, Line } from "./screen.ts";

/** What differs from run to run, and what stands in its place. */
type Rule = readonly [pattern: RegExp, replacement: (found: string) => string];

/** When every capture was made: a Wednesday at noon. */
const NOON = Date.UTC(2026, 10, 25, 12);
const DAY_MS = 86_400_000;

interface Run {
  readonly folder: string;
  readonly port: number;
  readonly nowMs: number;
}

/**
 * Replaces ids, keys, times and durations, so that a capture changes only when the program does, and holds no secret. What belongs
 * to one thing stays the same everywhere, days stay as far apart as they were, and what follows in a table stays in its column.
 *
 * @param folder in which the program ran
 * @param port that stood in for 8787
 */
export function createSteadier({ folder, port, nowMs }: Run): (line: Line) => Line {
  const numbers = new Map<string, number>();
  const numberOf = (found: string): number => {
    const number = numbers.get(found) ?? numbers.size + 1;
    numbers.set(found, number);
    return number;
  };
  const day = (found: string): string => {
    const days = Math.round((Date.parse(found.slice(0, 10)) - nowMs + DAY_MS / 2) / DAY_MS);
    return new Date(NOON + days * DAY_MS).toISOString().slice(0, 10);
  };
  const rules: readonly Rule[] = [
    [/\b(?:sk|mt)-svc-[0-9A-Za-z]{38}\b/g, exampleSecret],
    [/\b(?:sk|mt)-svc-[0-9A-Za-z]{4}…[0-9A-Za-z]{4}\b/g, (found) => `${found.slice(0, 7)}EXAM…0000`],
    [/(?<=#link=)[0-9A-Za-z]{32}\b/g, (found) => "EXAMPLE".repeat(5).slice(0, found.length)],
    [/\b(?:acc|asset|att|cb|key|req|task|tok)_[0-9a-z]{26}\b/g, (found) => exampleId(found, numberOf(found))],
    [/\b\d{4}-\d\d-\d\d(?=[T ]\d\d:)/g, day],
    [/(?<!\d)\d\d:\d\d:\d\d(?:\.\d+)?(?!\d)/g, () => "12:00:00"],
    [/\b1[789]\d{8}\b/g, () => String(NOON / 1000)],
    [new RegExp(folder, "g"), () => "/home/ada"],
    [new RegExp(`(?<=^svc \\S+ +)${hostname()}(?= )`, "g"), () => "media-1"],
    [new RegExp(`\\b${port}\\b`, "g"), () => "8787"],
    [/\b\d+ ms\b/g, () => "84 ms"],
    [/\b\d+ms\b/g, () => "84ms"],
    [/\b\d+(?:\.\d+)? s\b/g, () => "0.6 s"],
  ];
  return (line) =>
    rules.reduce<Line>((changed, [pattern, replacement]) => replaceIn(changed, pattern, replacement), line);
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Differs from others in the middle and at the end, where tables cut. */
function exampleId(found: string, number: number): string {
  const letter = (index: number): string => ALPHABET[index % ALPHABET.length] ?? "";
  const mark = letter(number * 7) + letter(Math.floor(number / 5) + number * 11);
  return `${found.split("_")[0]}_01m9${mark}tezpfrq2hfvb7k3ydn${mark}`;
}

/** No key of anybody: its check digits are wrong. */
function exampleSecret(found: string): string {
  return `${found.slice(0, 7)}${"EXAMPLE".repeat(6)}`.slice(0, found.length);
}

function replaceIn(line: Line, pattern: RegExp, replacement: (found: string) => string): Line {
  // One character a cell, so that positions are the same.
  const text = line.map((cell) => (cell.text.length === 1 ? cell.text : "\u0000")).join("");
  return [...text.matchAll(pattern)].reduceRight<Line>((changed, { 0: found, index }) => {
    const [first] = changed.slice(index);
    const letters = [...replacement(found)];
    if (first === undefined) return changed;
    const rest = moved(changed.slice(index + found.length), letters.length - found.length);
    return [...changed.slice(0, index), ...letters.map((text) => ({ ...first, text })), ...rest];
  }, line);
}

/** Lets a gap between columns, the next that is wide enough, take what the text before it has become longer or shorter. */
function moved(rest: Line, difference: number): Line {
  const text = rest.map((cell) => (cell.text === " " ? " " : "x")).join("");
  const gaps = [...text.matchAll(/ {2,}(?=x)/g)];
  const gap = gaps.find(({ 0: { length } }) => length - difference >= 2) ?? gaps[0];
  const space = rest[gap?.index ?? -1];
  if (gap === undefined || space === undefined) return rest;
  const spaces = Math.max(2, gap[0].length - difference);
  return [
    ...rest.slice(0, gap.index),
    ...Array<Cell>(spaces).fill(space),
    ...rest.slice(gap.index + gap[0].length),
  ];
}
