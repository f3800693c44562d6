import { invalid, mustBe } from "../../../domain/errors.ts";
import type { Json, JsonObject } from "../../../domain/json.ts";
import { type Micros, parseAmount, ZERO } from "../../../domain/money/money.ts";
import { MAX_WAIT_SEC, USUAL_WAIT_SEC } from "./limits.ts";

/* Arguments that are the same for several tools. An argument that is null is absent. */

/** @throws AppError naming `wait` */
export function waitMsOf({ wait }: JsonObject, usualSec = USUAL_WAIT_SEC): number {
  if (wait === undefined || wait === null) return usualSec * 1000;
  if (typeof wait === "number" && wait >= 0 && wait <= MAX_WAIT_SEC) return wait * 1000;
  throw mustBe("wait", { seconds: { least: 0, most: MAX_WAIT_SEC } }, { json: wait });
}

/** Whether a call with these arguments waits. What is not readable is refused at once, and waits for nothing. */
export function isWaiting(args: JsonObject, usualSec = USUAL_WAIT_SEC): boolean {
  const { wait } = args;
  return wait === undefined || wait === null ? usualSec > 0 : wait !== 0;
}

/** @throws AppError naming `max_cost` */
export function maxCostOf({ max_cost: given }: JsonObject): Micros | undefined {
  if (given === undefined || given === null) return undefined;
  const amount =
    typeof given === "string" || typeof given === "number" ? parseAmount(String(given)) : undefined;
  if (amount !== undefined && amount >= ZERO) return amount;
  throw mustBe("max_cost", { form: "amount_from_zero" }, { json: given });
}

/** @throws AppError naming the argument, where it is no text */
export function textOf(args: JsonObject, name: string): string | undefined {
  const given = args[name];
  if (given === undefined || given === null) return undefined;
  if (typeof given === "string") return given;
  throw mustBe(name, { form: "text" }, { json: given });
}

/** @throws AppError naming the argument, where it is no text, or absent */
export function neededTextOf(args: JsonObject, name: string): string {
  const text = textOf(args, name);
  if (text === undefined) throw invalid({ kind: "required", field: name });
  return text;
}

/** A list of texts; one text counts as a list of itself. @throws AppError naming the argument */
export function textsOf(args: JsonObject, name: string): readonly string[] | undefined {
  const given = args[name];
  if (given === undefined || given === null) return undefined;
  if (typeof given === "string") return [given];
  if (Array.isArray(given) && given.length === 0) throw invalid({ kind: "required", field: name });
  if (Array.isArray(given) && given.every((each): each is string => typeof each === "string")) return given;
  throw mustBe(name, { rule: "be a list of texts" }, { json: given as Json });
}
