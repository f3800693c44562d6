import type { Flag } from "../access/term.ts";
import type { Json } from "../json.ts";
import { parseSize, type Size } from "../media/size.ts";
import { CURRENCY } from "./money.ts";

/** Tokens that the upstream reported. */
export interface TokenUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/** How large one output is. */
export interface Extent extends Size {
  readonly durationMs?: number | undefined;
}

/** Everything that is particular to one unit. */
export interface PriceUnitFacts {
  /** The singular, for people; the plural adds an s. */
  readonly noun: string;
  /** What is counted, for the published document. */
  readonly counts: string;
  /** Whether each output has a count, or the request as a whole. */
  readonly of: "output" | "request";
  /** The request parameter that says how many units are needed; absent if there is none. */
  readonly parameter?: string;
  /** Units of each output according to the parameter's value; undefined if the request does not say. */
  told(value: Json | undefined): number | undefined;
  /** The fewest units that a delivered output can have. */
  readonly fewest: 0 | 1;
  /** Measures the units of one delivered output. Units that cannot be measured are reported by the upstream instead. */
  measured?(output: Extent): number | undefined;
  /** Units of all outputs, as the upstream reports them. */
  reported?(usage: TokenUsage): number | undefined;
  /** How many units the flag's amount is for; 1 where absent. */
  readonly per?: number;
  /** The flag that makes a line of this unit. */
  readonly price: Flag;
  /** The flag that says how many units to hold for; absent where the request always says. */
  readonly most?: Flag;
}

const MEGAPIXEL = 1024 * 1024;
/** What a request may say of seconds: at least what prices still count, and no more than a day or so. All else says nothing. */
const SECONDS = { least: 0.001, most: 100_000 };

const megapixelsBegun = ({ width, height }: Size) => Math.ceil((width * height) / MEGAPIXEL);
/** Requests do not say how many tokens they need. */
const TOKENS = { told: () => undefined, fewest: 0, per: 1_000_000 } as const;

/** What prices are counted in, in the order of `svc pricing set --help`. */
export const UNITS = {
  output: {
    noun: "output",
    counts: "images and videos",
    of: "output",
    told: () => 1,
    fewest: 1,
    measured: () => 1,
    price: {
      flag: "--per-output <amount>",
      help: `${CURRENCY} for each image or video, such as 0.010000`,
    },
  },
  second: {
    noun: "second",
    counts: "seconds of each",
    of: "output",
    parameter: "duration",
    told: (duration) =>
      typeof duration === "number" && duration >= SECONDS.least && duration <= SECONDS.most
        ? duration
        : undefined,
    fewest: 1,
    // A video of five seconds is a few frames longer or shorter.
    measured: ({ durationMs }) => (durationMs === undefined ? undefined : Math.ceil(durationMs / 1000)),
    price: { flag: "--per-second <amount>", help: "for each second of a video" },
    most: { flag: "--most-seconds <count>", help: "seconds to hold for when a request does not set them" },
  },
  /** Counts units of 1024 × 1024 pixels, rounded up. */
  megapixel: {
    noun: "megapixel",
    counts: "megapixels of each (1024 × 1024 pixels, begun ones count)",
    of: "output",
    parameter: "size",
    told: (size) => {
      const extent = typeof size === "string" ? parseSize(size) : undefined;
      return extent && megapixelsBegun(extent);
    },
    fewest: 1,
    measured: megapixelsBegun,
    price: { flag: "--per-megapixel <amount>", help: "for each started 1024 × 1024 pixels of an image" },
    most: {
      flag: "--most-megapixels <count>",
      help: "megapixels to hold for when a request does not set them",
    },
  },
  input_token: {
    noun: "input token",
    counts: "tokens that go in, as the provider reports them",
    of: "request",
    ...TOKENS,
    reported: ({ inputTokens }) => inputTokens,
    price: { flag: "--per-million-input-tokens <amount>", help: "for a million input tokens" },
    most: { flag: "--most-input-tokens <count>", help: "tokens to hold for, per request" },
  },
  output_token: {
    noun: "output token",
    counts: "tokens that come out, as the provider reports them",
    of: "output",
    ...TOKENS,
    reported: ({ outputTokens }) => outputTokens,
    price: { flag: "--per-million-output-tokens <amount>", help: "for a million output tokens" },
    most: { flag: "--most-output-tokens <count>", help: "tokens to hold for, per output" },
  },
} as const satisfies Readonly<Record<string, PriceUnitFacts>>;

export type PriceUnit = keyof typeof UNITS;

/** All units, in the table's order. */
// The keys of the table are its units.
export const PRICE_UNITS = Object.keys(UNITS) as readonly PriceUnit[] as readonly [PriceUnit, ...PriceUnit[]];

/** The facts about a unit. */
export function unitFacts(unit: PriceUnit): PriceUnitFacts {
  return UNITS[unit];
}

/** Units of each output, or of the request if units are counted per request, as far as the request says. */
export function unitsTold(
  unit: PriceUnit,
  parameters: { readonly [name: string]: Json },
): number | undefined {
  const { parameter, told } = unitFacts(unit);
  return told(parameter === undefined ? undefined : parameters[parameter]);
}
