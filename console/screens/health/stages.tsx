import type { Schemas } from "../../api/published.d.ts";
import { countText } from "../../parts/count.ts";
import { durationText } from "../../parts/duration.ts";
import { Section } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";

type Stage = Schemas["History"]["stages"][number];

/** How long tasks are in each stage, in the last hour and, to compare it with, in the last day. */
export function Stages({ stages }: { readonly stages: readonly Stage[] }) {
  const isIdle = stages.every(({ day }) => day.count === 0);
  return (
    <Section title="Time in each stage">
      {isIdle ? (
        <p class="text-soft">
          No task left a stage in the last day. Here is how long half of the tasks (p50) and 95 in 100 (p95)
          are in each of their stages.
        </p>
      ) : (
        <>
          <Table
            label="Time in each stage, in the order of a task's way"
            columns={COLUMNS}
            rows={stages}
            keyOf={({ stage }) => stage}
          />
          <p class="text-sm text-soft">
            Half of the tasks are in a stage for p50 at most, 95 in 100 for p95, within 5 %. Time that is long
            in “queued” is this service's: its limits may be raised. In “running” it is the provider's.
          </p>
        </>
      )}
    </Section>
  );
}

const time = (ms: number | null) => (ms === null ? "–" : durationText(ms));

const COLUMNS: readonly Column<Stage>[] = [
  { title: "Stage", cell: ({ stage }) => stage },
  { title: "Tasks, hour", isNumber: true, from: "sm", cell: ({ hour }) => countText(hour.count) },
  { title: "p50, hour", isNumber: true, cell: ({ hour }) => time(hour.p50_ms) },
  { title: "p95, hour", isNumber: true, cell: ({ hour }) => time(hour.p95_ms) },
  { title: "Tasks, day", isNumber: true, from: "md", cell: ({ day }) => countText(day.count) },
  { title: "p50, day", isNumber: true, from: "md", cell: ({ day }) => time(day.p50_ms) },
  { title: "p95, day", isNumber: true, from: "sm", cell: ({ day }) => time(day.p95_ms) },
];
