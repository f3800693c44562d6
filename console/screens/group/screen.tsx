import { useState } from "preact/hooks";
import { ask } from "../../api/ask.ts";
import { fileUrl } from "../../api/files.ts";
import type { Schemas } from "../../api/published.d.ts";
import { useChanges, useReading } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Money } from "../../parts/money.tsx";
import { Page, Reading, Section } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { StatusOf, TaskLink, Thumbnail, tookText } from "../tasks/cells.tsx";

type Group = Schemas["Group"];
type Member = Group["tasks"][number];

/** One group: its tasks beside each other, which of them was chosen, and what they cost. */
export function Screen({ item }: ScreenProps) {
  const path = { group_id: item };
  const reading = useReading(item, (signal) => ask("GET /v1/groups/{group_id}", { path }, { signal }));
  const { data, problem } = reading;
  useChanges("GET /v1/events", {}, reading, ({ data: task }) => {
    if (data?.tasks.some(({ task_id }) => task_id === task.task_id)) reading.again();
  });
  return (
    <Page
      title="Group"
      actions={
        data?.status === "processing" && <Cancel id={item} onGroup={(group) => reading.change(() => group)} />
      }
    >
      <p>
        <Link href={hrefOf("groups")}>← All groups</Link>
      </p>
      {problem !== undefined && <Trouble problem={problem} again={reading.again} />}
      {data === undefined && problem === undefined && <Reading what="the group" />}
      {data !== undefined && <Parts group={data} />}
    </Page>
  );
}

function Cancel({ id, onGroup }: { readonly id: string; readonly onGroup: (group: Group) => void }) {
  const [isAsking, setAsking] = useState(false);
  const cancel = async () => {
    onGroup(await ask("POST /v1/groups/{group_id}/cancel", { path: { group_id: id } }));
    setAsking(false);
  };
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        Cancel group
      </Button>
      {isAsking && (
        <Confirm
          title="Cancel what has not ended?"
          action="Cancel the group"
          onYes={cancel}
          onClose={() => setAsking(false)}
        >
          <p>Tasks that have completed stay as they are. A cancelled task is not charged.</p>
        </Confirm>
      )}
    </>
  );
}

function Parts({ group }: { readonly group: Group }) {
  const { group_id, status, policy, winner, created_at, deadline_at, usage, tasks, contact_sheet } = group;
  return (
    <>
      <div class="rounded-xl border border-line bg-card p-4">
        <Facts
          facts={[
            ["Status", <Status key="status" word={status} />],
            ["Policy", policy],
            [
              "Chosen",
              winner && (
                <Link key="winner" href={hrefOf("tasks", winner)}>
                  …{winner.slice(-8)}
                </Link>
              ),
            ],
            ["Charged", <Money key="charged" amount={usage.cost} />],
            ["Made", <Time key="made" at={created_at} />],
            ["Deadline", deadline_at && <Time key="deadline" at={deadline_at} />],
            [
              "Id",
              <code key="id" class="font-mono text-xs break-all sm:text-sm">
                {group_id}
              </code>,
            ],
          ]}
        />
      </div>
      {contact_sheet !== null && (
        <a href={fileUrl(contact_sheet)} target="_blank" rel="noreferrer">
          <img
            class="block max-h-96 rounded-xl border border-line bg-sunk object-contain"
            src={fileUrl(contact_sheet)}
            alt="All results of the group side by side"
          />
        </a>
      )}
      <Section title="Tasks">
        <Table label="Tasks of the group" columns={COLUMNS} rows={tasks} keyOf={({ task_id }) => task_id} />
      </Section>
    </>
  );
}

const COLUMNS: readonly Column<Member>[] = [
  { title: "Result", cell: ({ task }) => task && <Thumbnail task={task} /> },
  {
    title: "Task",
    cell: ({ task, task_id }) =>
      task === null ? <span class="text-soft">…{task_id.slice(-8)}</span> : <TaskLink task={task} />,
  },
  {
    title: "Status",
    cell: ({ task }) => (task === null ? <span class="text-soft">deleted</span> : <StatusOf task={task} />),
  },
  { title: "Model", from: "sm", cell: ({ task }) => task?.model },
  { title: "Took", from: "md", isNumber: true, cell: ({ task }) => task && tookText(task) },
  { title: "Cost", isNumber: true, cell: ({ task }) => task && <Money amount={task.usage?.cost} /> },
];
