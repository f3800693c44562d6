import type { JsonObject } from "../../src/domain/json.ts";
import type { Engine } from "./engine.ts";
import { type End, type Family, PRICE_MICROS } from "./families.ts";
import type { Ended, Picture, Service } from "./service.ts";

/** What a case is driven with. */
export interface Bench {
  readonly family: Family;
  readonly engine: Engine;
  readonly service: Service;
}

export interface Case {
  readonly name: string;
  /** It kills the engine or reads its log, so it must be ours. */
  readonly needsOwn?: true;
  /** @returns what was seen, in a line. @throws Error that says what should have been */
  run(bench: Bench): Promise<string>;
}

/** A case that cannot be driven here, and why. */
export class Skip extends Error {}

/** @throws Error with the text unless the claim holds */
export function must(claim: boolean, text: string): asserts claim {
  if (!claim) throw new Error(text);
}

/** Makes pictures, and checks what was paid for them. */
export async function make({ service }: Bench, body: JsonObject): Promise<Ended> {
  const before = await service.money();
  const task = await service.end(await service.ask(body));
  await isPaid(service, before.charged, [task]);
  return task;
}

/** Each picture that these tasks have was paid once, nothing else was, and nothing is held any more. */
export async function isPaid(service: Service, chargedBefore: number, tasks: readonly Ended[]) {
  const { charged, held } = await service.money();
  const pictures = tasks.reduce((sum, task) => sum + task.pictures.length, 0);
  const paid = charged - chargedBefore;
  must(paid === pictures * PRICE_MICROS, `${pictures} pictures cost ${paid} micros: ${tasks.map(describe)}`);
  must(held === 0, `${held} micros are still held: ${tasks.map(describe)}`);
  for (const { status, costMicros, pictures: own } of tasks)
    must(costMicros === own.length * PRICE_MICROS, `a ${status} task says that it cost ${costMicros} micros`);
}

/** Makes one picture of 64 by 64 points that must succeed. */
export async function makeOne(bench: Bench, body: JsonObject): Promise<Picture> {
  const task = await make(bench, { prompt: "A red fox", size: "64x64", ...body });
  const [picture] = task.pictures;
  must(task.status === "completed" && picture !== undefined, describe(task));
  return picture;
}

export function endsAs(task: Ended, end: End): void {
  const isSo = end === "completed" ? task.status === end : task.status === "failed" && task.code === end.code;
  must(isSo, `should have ended as ${end === "completed" ? end : end.code}: ${describe(task)}`);
}

/** `completed, 2 pictures`, or `failed UPSTREAM_ERROR "…"`. */
export function describe({ status, code, message, pictures, missing }: Ended): string {
  if (status !== "completed") return [status, code ?? "", message ? `"${message}"` : ""].join(" ").trim();
  const sizes = [...new Set(pictures.map(sizeOf))].join(", ");
  return `completed, ${pictures.length} of ${sizes}${missing > 0 ? `, ${missing} told as missing` : ""}`;
}

export const sizeOf = ({ width, height }: Picture) => `${width}x${height}`;

/** The mean difference of two pictures of one size in a part of their columns, from 0 to 255. */
export function difference(one: Picture, other: Picture, from = 0, to = one.width): number {
  must(sizeOf(one) === sizeOf(other), `${sizeOf(one)} is no ${sizeOf(other)}`);
  let [sum, count] = [0, 0];
  for (let at = 0; at < one.pixels.length; at++) {
    const column = Math.floor(at / 3) % one.width;
    if (column < from || column >= to) continue;
    sum += Math.abs((one.pixels[at] ?? 0) - (other.pixels[at] ?? 0));
    count += 1;
  }
  return sum / Math.max(1, count);
}
