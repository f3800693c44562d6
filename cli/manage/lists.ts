import type { Command } from "commander";
import type { ListQuery } from "../../src/domain/lists.ts";
import { commandAgain } from "../again.ts";
import { unreadable } from "../flags/values.ts";
import type { Output } from "../format/output.ts";
import type { Slices } from "./port.ts";

/** The flags of a list of accounts, keys or tokens, which is printed in full unless they ask for a part. */
export interface ListFlags {
  readonly limit?: string;
  readonly after?: string;
  readonly newestFirst?: boolean;
}

export function withListFlags(command: Command, what: string): Command {
  return command
    .option("--limit <count>", `at most as many ${what} (default: all)`)
    .option("--after <id>", `${what} that follow the one with this id`)
    .option("--newest-first", "list the newest first");
}

/** @throws Failure (exit 2) for an unusable limit */
export function readListFlags({ limit, after, newestFirst }: ListFlags): ListQuery {
  if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit))
    throw unreadable("--limit", "a whole number from 1", limit);
  return {
    limit: limit === undefined ? undefined : Number(limit),
    after,
    order: newestFirst === true ? "desc" : undefined,
  };
}

/** The part of a list that was asked for. */
export async function gathered<Item>(slices: Slices<Item>): Promise<{ items: Item[]; next: string | null }> {
  const all: Item[] = [];
  let end: string | null = null;
  for await (const { items, next } of slices) {
    for (const item of items) all.push(item);
    end = next ?? null;
  }
  return { items: all, next: end };
}

/** Says how the list goes on, if it does. */
export function sayMore(output: Output, command: Command, next: string | null): void {
  if (next !== null) output.say(`More: ${commandAgain(command, { after: next })}`);
}
