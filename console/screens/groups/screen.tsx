import { useRef } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { readAsFar, useMore } from "../../api/more.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useChanges, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { countText } from "../../parts/count.ts";
import { Empty } from "../../parts/empty.tsx";
import { RowLink } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { Page, Reading } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";

type Group = Schemas["ListedGroup"];

const readGroups = (after: string | undefined, signal?: AbortSignal) =>
  ask("GET /v1/groups", { query: { limit: 50, ...(after === undefined ? {} : { after }) } }, { signal });

type Groups = Awaited<ReturnType<typeof readGroups>>;

function withPage(before: Groups, { groups, next }: Groups): Groups {
  return { groups: [...before.groups, ...groups], next };
}

/** Groups: one prompt made in several ways, newest first. */
export function Screen() {
  const held = useRef(0);
  const reading = useReading("groups", (signal) =>
    readAsFar(({ groups }) => groups.length, held.current, {
      read: (after) => readGroups(after, signal),
      join: withPage,
    }),
  );
  const { data, problem } = reading;
  held.current = data?.groups.length ?? 0;
  const more = useMore(reading, "groups", { read: readGroups, join: withPage });
  // The end of a group is told by the end of its tasks.
  useChanges("GET /v1/events", {}, reading, ({ data: task }) => {
    const isOurs = data?.groups.some(
      ({ status, task_ids }) => status === "processing" && task_ids.includes(task.task_id),
    );
    if (isOurs && task.completed_at !== undefined) reading.again();
  });
  return (
    <Page title="Groups">
      {problem !== undefined && <Trouble problem={problem} again={reading.again} />}
      {data === undefined && problem === undefined && <Reading what="groups" />}
      {data?.groups.length === 0 && data.next === null && (
        <Empty title="No groups yet">
          A group makes one prompt by several models, or with several values of a field: all of its tasks or
          none, within a budget. <code class="font-mono break-all text-ink">POST /v1/groups</code> makes one.
        </Empty>
      )}
      {data !== undefined && data.groups.length > 0 && (
        <Table label="Groups, newest first" columns={COLUMNS} rows={data.groups} keyOf={idOf} />
      )}
      {more.problem !== undefined && <Trouble problem={more.problem} again={more.readAnyway} />}
      {data !== undefined && data.next !== null && more.problem === undefined && (
        <div>
          <Button isBusy={more.isReading} onClick={more.readAnyway}>
            Show older ones
          </Button>
        </div>
      )}
    </Page>
  );
}

const idOf = ({ group_id }: Group) => group_id;

const COLUMNS: readonly Column<Group>[] = [
  {
    title: "Group",
    cell: ({ group_id }) => (
      <RowLink href={hrefOf("groups", group_id)}>
        <span class="font-mono text-[0.8125rem]">…{group_id.slice(-8)}</span>
      </RowLink>
    ),
  },
  { title: "Status", cell: ({ status }) => <Status word={status} /> },
  { title: "Policy", from: "sm", cell: ({ policy }) => policy },
  { title: "Tasks", from: "sm", isNumber: true, cell: ({ task_ids }) => countText(task_ids.length) },
  { title: "Made", from: "md", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Charged", isNumber: true, cell: ({ usage }) => <Money amount={usage.cost} /> },
];
