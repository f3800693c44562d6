import { type Command, Option } from "commander";
import { commandAgain } from "../again.ts";
import type { Invocation } from "../command.ts";
import { unreadable } from "../flags/values.ts";
import { type Column, renderTsv } from "../format/table.ts";

/** The flags of a list that comes in pages. */
export interface PageFlags {
  readonly limit?: string;
  readonly after?: string;
  readonly all?: boolean;
}

/** A part of a list, by its name in the JSON, and where the next part begins. */
export interface Page {
  readonly next: string | null;
}

export interface Listing<Item extends object, Found extends Page> {
  readonly command: Command;
  readonly columns: readonly Column[];
  /** Reads one page. */
  readonly read: (page: { limit: string | undefined; after: string | undefined }) => Promise<Found>;
  readonly itemsOf: (page: Found) => readonly Item[];
  readonly rowOf: (item: Item) => readonly string[];
  /** The message for an empty list. */
  readonly none: string;
}

const MOST = 100;

export function withPageFlags(command: Command, what: string): Command {
  return command
    .option("--limit <count>", `${what} in one page, 1 to ${MOST} (default 20)`)
    .option("--after <cursor>", "show the page after this cursor, which the page before prints")
    .addOption(
      new Option("--all", `all ${what}, page by page; with --json one on each line`).conflicts("limit"),
    );
}

/** Prints one page and how to see the next one, or all of them. @throws Failure (exit 2) for an unusable limit */
export async function listPages<Item extends object, Found extends Page>(
  { context, output, options }: Invocation<PageFlags>,
  listing: Listing<Item, Found>,
): Promise<void> {
  const { columns, rowOf, itemsOf, none } = listing;
  if (options.all === true) {
    await listAll({ context, output, options }, listing);
    return;
  }
  const page = await listing.read({ limit: readLimit(options.limit), after: options.after });
  const items = itemsOf(page);
  await output.list(page, columns, items.map(rowOf));
  if (items.length === 0) output.say(none);
  if (page.next !== null) output.say(`More: ${commandAgain(listing.command, { after: page.next })}`);
}

/** Lines are printed as they come. A table is drawn at the end, because its columns fit all of its rows. */
async function listAll<Item extends object, Found extends Page>(
  { context, output, options }: Pick<Invocation<PageFlags>, "context" | "output" | "options">,
  { columns, read, itemsOf, rowOf, none }: Listing<Item, Found>,
): Promise<void> {
  const rows: (readonly string[])[] = [];
  let count = 0;
  let after = options.after;
  for (;;) {
    const page = await read({ limit: String(MOST), after });
    const items = itemsOf(page);
    count += items.length;
    if (output.mode === "pretty") rows.push(...items.map(rowOf));
    else if (output.mode === "plain") context.stdout.write(renderTsv(items.map(rowOf)));
    else context.stdout.write(items.map((item) => output.jsonLine(item)).join(""));
    if (output.mode === "pretty") output.progress(`${count} …`);
    if (page.next === null) break;
    after = page.next;
  }
  output.clear();
  if (rows.length > 0) context.stdout.write(await output.table(columns, rows));
  if (count === 0) output.say(none);
}

function readLimit(text: string | undefined): string | undefined {
  if (text === undefined || (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= MOST)) return text;
  throw unreadable("--limit", `a whole number from 1 to ${MOST}`, text);
}
