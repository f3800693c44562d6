import { useChanges, useReading, useStream } from "../../api/use.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link, RowLink } from "../../parts/link.tsx";
import { LongText } from "../../parts/long-text.tsx";
import { Money } from "../../parts/money.tsx";
import { Page, Reading, Section } from "../../parts/page.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { hrefOf } from "../../shell/router.ts";
import type { ScreenProps } from "../../shell/screen-props.ts";
import { Actions } from "./actions.tsx";
import { Family, taskHref } from "./family.tsx";
import { barsOf, isLive, readTrace, type Trace } from "./read.ts";
import { Results } from "./results.tsx";
import { Waterfall } from "./waterfall.tsx";

/** One task: what became of it, where its time and its money went, and what to do about its error. */
export function Screen({ role, item }: ScreenProps) {
  const reading = useReading(item, (signal) => readTrace(role, item, signal));
  const { data, problem } = reading;
  const isWatched = data !== undefined && isLive(data.task);
  useStream(
    isWatched && role === "tenant" ? "GET /v1/tasks/{task_id}/events" : undefined,
    { task_id: item },
    reading.again,
  );
  useChanges(
    isWatched && role === "operator" ? "GET /admin/v1/events" : undefined,
    {},
    reading,
    ({ data: changed }) => {
      if (changed.task_id === item) reading.again();
    },
  );
  return (
    <Page
      title={
        data === undefined
          ? "Task"
          : `${data.task.kind === "video" ? "Video" : "Image"} by ${data.task.model}`
      }
      actions={data !== undefined && <Actions role={role} trace={data} onChange={reading.again} />}
    >
      <p>
        <Link href={hrefOf("tasks")}>← All tasks</Link>
      </p>
      {problem !== undefined && <Trouble problem={problem} again={reading.again} />}
      {data === undefined && problem === undefined && <Reading what="the task" />}
      {data !== undefined && <TaskParts role={role} trace={data} />}
    </Page>
  );
}

function TaskParts({ role, trace }: Pick<ScreenProps, "role"> & { readonly trace: Trace }) {
  const { task, attempts, callbacks } = trace;
  return (
    <>
      {task.status === "failed" && <Failure task={task} />}
      <Results trace={trace} />
      <About task={task} />
      <Family role={role} task={task} hrefFor={taskHref} />
      <Section title="Where its time went">
        <Waterfall bars={barsOf(trace)} />
      </Section>
      {attempts.length > 0 && (
        <Section title="Attempts">
          <Table
            label="Attempts"
            columns={task.provider === undefined ? ATTEMPTS : [...ATTEMPTS, ...BEHIND]}
            rows={attempts}
            keyOf={({ number }) => String(number)}
          />
        </Section>
      )}
      <Section title="Money">
        <MoneyLines trace={trace} />
      </Section>
      {callbacks.length > 0 && (
        <Section title="Callback">
          <Table label="Callback" columns={CALLBACKS} rows={callbacks} keyOf={({ id }) => id} />
        </Section>
      )}
      <AsJson trace={trace} />
    </>
  );
}

/** What it is, whose, and how it stands. */
function About({ task }: Pick<Trace, "task">) {
  return (
    <div class="rounded-xl border border-line bg-card p-4">
      <Facts
        facts={[
          ["Status", <Status key="status" word={task.status} />],
          ["Progress", isLive(task) && task.progress !== undefined ? `${task.progress} %` : undefined],
          [
            "Prompt",
            task.request.prompt && <LongText key="prompt" label="Prompt" text={task.request.prompt} />,
          ],
          [
            "Id",
            <code key="id" class="font-mono text-xs break-all sm:text-sm">
              {task.task_id}
            </code>,
          ],
          ["Made", <Time key="made" at={task.created_at} />],
          ["Ended", task.completed_at && <Time key="ended" at={task.completed_at} />],
          ["Account", task.account?.name],
          ["Key", task.key.name],
          ["Provider", task.provider],
          [
            "Request",
            <code key="request" class="font-mono text-xs break-all sm:text-sm">
              {task.request_id}
            </code>,
          ],
        ]}
      />
    </div>
  );
}

/** What was asked for and answered, as it is. */
function AsJson({ trace: { task } }: { readonly trace: Trace }) {
  return (
    <Section title="Request and answer">
      <CodeBlock label="Request" text={JSON.stringify({ model: task.model, ...task.request }, null, 2)} />
      <CodeBlock label="Answer" text={JSON.stringify(answerOf(task), null, 2)} />
    </Section>
  );
}

function Failure({ task }: Pick<Trace, "task">) {
  return (
    <div class="rounded-xl border border-bad bg-card p-4">
      <p class="font-medium break-words text-bad">{task.error_message ?? "It failed."}</p>
      {task.advice !== undefined && <p class="mt-1">{task.advice}</p>}
      <p class="mt-1 text-sm text-soft">
        <code class="font-mono break-all">{task.error_code}</code>
      </p>
    </div>
  );
}

type Attempt = Trace["attempts"][number];
const ATTEMPTS: readonly Column<Attempt>[] = [
  { title: "No.", cell: ({ number }) => number },
  { title: "Outcome", cell: ({ outcome }) => <Status word={outcome} /> },
  { title: "Began", from: "md", cell: ({ started_at }) => <Time at={started_at} /> },
  {
    title: "What went wrong",
    cell: ({ message, detail }) => <span class="break-words">{detail ?? message}</span>,
  },
];
/** What only operators are told. */
const BEHIND: readonly Column<Attempt>[] = [
  {
    title: "Provider",
    from: "sm",
    cell: ({ provider, upstream_model }) => [provider, upstream_model].filter(Boolean).join(" · "),
  },
  { title: "Cost to us", from: "sm", isNumber: true, cell: ({ cost }) => <Money amount={cost} /> },
];

const CALLBACKS: readonly Column<Trace["callbacks"][number]>[] = [
  { title: "Host", cell: ({ id, host }) => <RowLink href={hrefOf("callbacks", id)}>{host}</RowLink> },
  { title: "State", cell: ({ state }) => <Status word={state} /> },
  { title: "Sends", isNumber: true, cell: ({ attempts }) => attempts },
  { title: "Last answer", cell: ({ last_status, last_outcome }) => last_status ?? last_outcome },
];

function MoneyLines({ trace: { price, task } }: { readonly trace: Trace }) {
  return (
    <div class="rounded-xl border border-line bg-card p-4">
      <Facts
        facts={[
          ["Held", <Money key="held" amount={price.amount} />],
          ...price.lines.map(
            ({ sku, quantity, amount }) =>
              [`${quantity} × ${sku}`, <Money key={sku} amount={amount} />] as const,
          ),
          ["Charged", isLive(task) ? "when it is done" : <Money key="charged" amount={price.charged} />],
          ...(price.refunded === undefined
            ? []
            : [["Given back", <Money key="refunded" amount={price.refunded} />] as const]),
        ]}
      />
    </div>
  );
}

/** What a status request answers, without what only this screen asks for. */
function answerOf(task: Trace["task"]) {
  const { request: _, timeline: __, key: ___, account: ____, request_id: _____, ...answer } = task;
  return answer;
}
