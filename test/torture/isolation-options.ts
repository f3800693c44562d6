import { parseArgs } from "node:util";
import { whole } from "./options.ts";

/** What the hostile tenant does, one after the other. */
export const ATTACKS = [
  "drip",
  "declared",
  "small declared",
  "streams",
  "bombs",
  "slow readers",
  "docs",
  "rate floods",
  "list scans",
  "callback floods",
  "cancel storms",
  "idempotency storms",
] as const;
export type AttackName = (typeof ATTACKS)[number];

export interface IsolationOptions {
  readonly attacks: readonly AttackName[];
  /** How long each attack is measured, and how long before it begins. */
  readonly seconds: number;
  readonly seed: number;
}

export const USAGE = `bun run torture:isolation [--only drip,docs] [--seconds 30] [--seed N]

  --only     some of: ${ATTACKS.join(", ")}
  --seconds  how long another tenant is measured during each, after as long without
  --seed     decides what the hostile tenant sends; printed, so that a run can be repeated
`;

/** @throws Error that says what is wrong with the arguments */
export function readIsolationOptions(args: readonly string[]): IsolationOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      seconds: { type: "string", default: "30" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    },
  });
  const asked = values.only?.split(",").map((each) => each.trim()) ?? ATTACKS;
  const unknown = asked.find((each) => !ATTACKS.some((known) => known === each));
  if (unknown !== undefined) throw new Error(`There is no attack "${unknown}".`);
  return {
    attacks: ATTACKS.filter((each) => asked.includes(each)),
    seconds: Math.max(1, whole("--seconds", values.seconds)),
    seed: whole("--seed", values.seed),
  };
}
