import { type Command, Option } from "commander";
import { TRAIL_ACTIONS } from "../../../src/domain/access/trail.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../src/domain/json.ts";
import { listPages, type PageFlags, withPageFlags } from "../../client/pages.ts";
import type { Context } from "../../context.ts";
import { readPastTime } from "../../flags/values.ts";
import { printable } from "../../format/printable.ts";
import { column } from "../../format/table.ts";
import { formatTime } from "../../format/units.ts";
import { withExamples } from "../../help/manual.ts";
import { addManagedCommand, onManagedRun } from "../../manage/managed.ts";
import type { Place, TrailListing } from "../../manage/port.ts";

const COLUMNS = [
  column.word("TIME"),
  column.text("ACTOR", 2),
  column.word("ACTION"),
  column.text("OBJECT", 1),
  column.text("CHANGE", 3),
];

type Flags = PageFlags & Partial<Record<"actor" | "action" | "object" | "since" | "until", string>>;

export function addLog(audit: Command, context: Context): void {
  const command = addManagedCommand(audit, "log", "list who changed what, newest first")
    .option("--actor <actor>", "only changes of this token, by id or name; or local, file or system")
    .addOption(
      new Option("--action <action>", "only changes of this kind").choices(Object.keys(TRAIL_ACTIONS)),
    )
    .option(
      "--object <object>",
      "only changes of this account, key or token, by id or name; or of another id",
    )
    .option("--since <when>", "only those made since: 2h ago, or a time in ISO 8601")
    .option("--until <when>", "only those made before");
  withPageFlags(command, "entries");
  withExamples(command, "svc audit log", "svc audit log --object web --json", [
    "svc audit log --actor console --since 7d --all",
    "what a token did in a week",
  ]);
  onManagedRun<Flags>(command, context, async (invocation) => {
    const { actor, action, object, since, until } = invocation.options;
    const now = Date.now();
    const time = (flag: string, text: string | undefined) =>
      text === undefined ? undefined : readPastTime(flag, text, now);
    const times = { since: time("--since", since), until: time("--until", until) };
    const place = await invocation.open();
    await listPages(invocation, {
      command,
      columns: COLUMNS,
      read: (page) => found(place, { actor, action, object, ...times, ...page }),
      itemsOf: ({ entries }) => entries,
      rowOf,
      none: "No changes.",
    });
  });
}

/** A page can be empty and not be the last: reads on until something is found. */
async function found({ trail }: Place, query: Parameters<Place["trail"]>[0]): Promise<TrailListing> {
  for (let page = await trail(query); ; ) {
    if (page.entries.length > 0 || page.next === null) return page;
    page = await trail({ ...query, after: page.next });
  }
}

function rowOf({ at, actor, action, object, before, after }: JsonObject): string[] {
  return [
    typeof at === "number" ? formatTime(at * 1000) : "",
    nameOf(actor),
    String(action),
    nameOf(object),
    changeOf(formIn(before), formIn(after)),
  ];
}

/** `token console`, `local root`, `key web`; the id where there is no name. */
function nameOf(form: Json | undefined): string {
  const { kind, id, name } = formIn(form);
  return [kind, name ?? id].filter((each) => each != null).join(" ");
}

/** `requests_per_minute null → 60; models …`; of what was made, what it has. */
function changeOf(before: JsonObject, after: JsonObject): string {
  const changes = Object.keys({ ...before, ...after }).flatMap((name) => {
    const [was, is] = [before[name] ?? null, after[name] ?? null];
    if (was === null) return is === null ? [] : [`${name} ${JSON.stringify(is)}`];
    return [`${name} ${JSON.stringify(was)} → ${JSON.stringify(is)}`];
  });
  return printable(changes.join("; "));
}

const formIn = (form: Json | undefined): JsonObject => (isJsonObject(form) ? form : {});
