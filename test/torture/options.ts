import { parseArgs } from "node:util";
import type { Lifetime } from "./killer.ts";

export interface Options {
  readonly kills: number;
  readonly seed: number;
  /** How long the server lives between being ready and its end. */
  readonly lifetime: Lifetime;
  /** Keep the data folder, and say where it is. */
  readonly keep: boolean;
}

export const USAGE = `bun run torture [--kills 200] [--seed N] [--seconds-between 0.02-0.7] [--keep]

  --kills            how many times the server is killed
  --seed             decides what is asked and when it is killed; printed, so that a run can be repeated
  --seconds-between  shortest and longest life of a ready server
  --keep             leave the data folder behind
`;

/** @throws Error that says what is wrong with the arguments */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: "string", default: "200" },
      seed: { type: "string" },
      "seconds-between": { type: "string", default: "0.02-0.7" },
      keep: { type: "boolean", default: false },
    },
  });
  const between = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(values["seconds-between"]);
  if (between === null) throw new Error("--seconds-between must be like 0.02-0.7.");
  return {
    kills: whole("--kills", values.kills),
    seed: values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : whole("--seed", values.seed),
    lifetime: { minMs: Number(between[1]) * 1000, maxMs: Number(between[2]) * 1000 },
    keep: values.keep,
  };
}

/** @throws Error when the text is no whole number */
export function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${name} must be a whole number, got "${text}".`);
}

/** What programs that are told no more than this are told. */
export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
  readonly keep: boolean;
}

/** @throws Error that says what is wrong with the arguments */
export function readKillOptions(args: readonly string[], kills: number): KillOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: "string", default: String(kills) },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
      keep: { type: "boolean", default: false },
    },
  });
  return { kills: whole("--kills", values.kills), seed: whole("--seed", values.seed), keep: values.keep };
}
