import { parseArgs } from "node:util";
import { BENCH_NAMES, isOfBuilds } from "./benches/all.ts";
import { LEAST_PAIRS } from "./compare/interval.ts";

export interface Options {
  /** Names of benches; all where it is left out. */
  readonly only: readonly string[] | undefined;
  readonly isQuick: boolean;
  /** Whether a missed target, or with `against` a figure that got worse, is a failure. */
  readonly isStrict: boolean;
  /** A file for the machine-readable record. */
  readonly json: string | undefined;
  /** Whether the record of this version is made, or with `only` these pieces of it. */
  readonly isRecord: boolean;
  /** What git calls the commit to compare with. */
  readonly against: string | undefined;
  /** How often both are run then. */
  readonly pairs: number;
}

/** Enough for an interval without the lowest and the highest ratio. */
const PAIRS = 9;

/**
 * @param ownExecutable that `SVC_BIN` names
 * @returns why not, for arguments that make no sense
 */
export function readOptions(
  args: readonly string[],
  ownExecutable: string | undefined,
): Options | { readonly refusal: string } {
  const given = parse(args);
  if ("refusal" in given) return given;
  const { quick: isQuick, strict: isStrict, record: isRecord, json, against } = given;
  const only = given.only?.split(",");
  const pairsText = given.pairs ?? String(isQuick ? LEAST_PAIRS : PAIRS);
  const pairs = /^\d+$/.test(pairsText) ? Number(pairsText) : Number.NaN;
  const options = { only, isQuick, isStrict, json, isRecord, against, pairs };
  const isPairsAlone = given.pairs !== undefined && against === undefined;
  const refusal = refusalOf(options, { ownExecutable, pairsText, isPairsAlone });
  return refusal === undefined ? options : { refusal };
}

function refusalOf(
  { only, isQuick, json, isRecord, against, pairs }: Options,
  more: {
    readonly ownExecutable: string | undefined;
    readonly pairsText: string;
    readonly isPairsAlone: boolean;
  },
): string | undefined {
  const { ownExecutable, pairsText, isPairsAlone } = more;
  const unknown = only?.find((name) => !BENCH_NAMES.includes(name));
  if (unknown !== undefined)
    return `--only: there is no bench "${unknown}"; there are ${BENCH_NAMES.join(", ")}.`;
  if (json === "") return "--json: name the file to write.";
  if (isRecord && (isQuick || against !== undefined || ownExecutable !== undefined))
    return "--record: a record is at full length, of this tree's own executable; leave out --quick, --against and SVC_BIN.";
  if (isPairsAlone) return "--pairs: say with --against what to compare with.";
  if (!(pairs >= LEAST_PAIRS))
    return `--pairs: give a whole number of at least ${LEAST_PAIRS}, for fewer show nothing; got "${pairsText}".`;
  if (against === undefined) return undefined;
  if (against === "") return "--against: name a commit, tag or branch.";
  if (ownExecutable !== undefined) return "--against: compares this tree's own executable; unset SVC_BIN.";
  if (only !== undefined && !only.some(isOfBuilds))
    return `--against: ${only.join(", ")}: no such bench can measure another commit, since it imports what it measures.`;
  return undefined;
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: "string" },
        json: { type: "string" },
        quick: { type: "boolean", default: false },
        strict: { type: "boolean", default: false },
        record: { type: "boolean", default: false },
        against: { type: "string" },
        pairs: { type: "string" },
      },
    });
    return values;
  } catch (error) {
    if (error instanceof TypeError) return { refusal: error.message };
    throw error;
  }
}
