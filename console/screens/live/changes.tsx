import { useEffect, useRef, useState } from "preact/hooks";
import type { Role } from "../../api/session.ts";
import { Money } from "../../parts/money.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { StatusOf, TaskLink, Thumbnail, tookText } from "../tasks/cells.tsx";
import { Bar } from "./bar.tsx";
import { inPlace, type Row } from "./feed.ts";

interface Props {
  readonly role: Role;
  readonly rows: readonly Row[];
}

/** A pointer that lies still for so long is of nobody who is about to press: milliseconds. */
const REST_MS = 10_000;

/**
 * Tasks in the order of their latest changes. While a pointer moves among them, or the focus is there, each keeps its place, so that
 * nobody presses one and gets another; what it says goes on to change.
 */
export function Changes({ role, rows }: Props) {
  const { held, ...handlers } = useHeld(rows);
  const shown = held === undefined ? rows : inPlace(held, rows);
  const places = new Set(shown.map(({ task }) => task.task_id));
  const newer = rows.filter(({ task }) => !places.has(task.task_id)).length;
  return (
    <section class="flex min-w-0 flex-col gap-2">
      <div class="flex flex-wrap items-baseline gap-x-3">
        <h2 class="text-base font-semibold">Changes</h2>
        <span class="text-sm text-soft">
          {held === undefined
            ? "the latest first"
            : newer === 0
              ? "in place while you are among them"
              : `in place while you are among them, ${newer} newer wait`}
        </span>
      </div>
      <div {...handlers}>
        <Table
          label="Changes, the latest first"
          columns={role === "operator" ? OPERATORS : TENANTS}
          rows={shown}
          keyOf={({ task }) => task.task_id}
        />
      </div>
    </section>
  );
}

/** The rows as they were when somebody came among them; undefined: nobody is there. */
function useHeld(rows: readonly Row[]) {
  const [held, setHeld] = useState<readonly Row[]>();
  const inside = useRef(new Set<"pointer" | "focus">());
  const rest = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(rest.current), []);
  const enter = (by: "pointer" | "focus") => {
    inside.current.add(by);
    setHeld((before) => before ?? rows);
  };
  const leave = (by: "pointer" | "focus") => {
    inside.current.delete(by);
    if (inside.current.size === 0) setHeld(undefined);
  };
  return {
    held,
    onPointerMove: ({ pointerType, movementX, movementY }: PointerEvent) => {
      // A finger leaves nothing behind, and a list that moves below a pointer is no movement of its.
      if (pointerType !== "mouse" || (movementX === 0 && movementY === 0)) return;
      clearTimeout(rest.current);
      rest.current = setTimeout(() => leave("pointer"), REST_MS);
      enter("pointer");
    },
    onPointerLeave: () => leave("pointer"),
    onFocusIn: () => enter("focus"),
    onFocusOut: ({ currentTarget, relatedTarget }: FocusEvent) => {
      const isWithin =
        currentTarget instanceof Node &&
        relatedTarget instanceof Node &&
        currentTarget.contains(relatedTarget);
      if (!isWithin) leave("focus");
    },
  };
}

const STATUS: Column<Row> = {
  title: "Status",
  cell: ({ task }) => (
    <span class="flex min-w-24 flex-col gap-1">
      <StatusOf task={task} />
      {task.status === "processing" && task.progress !== undefined && <Bar share={task.progress / 100} />}
    </span>
  ),
};
const FIRST: readonly Column<Row>[] = [
  { title: "Result", cell: ({ task }) => <Thumbnail task={task} /> },
  { title: "Task", cell: ({ task }) => <TaskLink task={task} /> },
  STATUS,
];
const LAST: readonly Column<Row>[] = [
  { title: "Changed", from: "sm", cell: ({ at }) => <Time at={at} /> },
  { title: "Took", from: "lg", isNumber: true, cell: ({ task }) => tookText(task) },
  { title: "Cost", from: "sm", isNumber: true, cell: ({ task }) => <Money amount={task.usage?.cost} /> },
];
const TENANTS: readonly Column<Row>[] = [
  ...FIRST,
  { title: "Model", from: "sm", cell: ({ task }) => <span class="wrap-anywhere">{task.model}</span> },
  ...LAST,
];
const OPERATORS: readonly Column<Row>[] = [
  ...FIRST,
  {
    title: "Model",
    from: "sm",
    cell: ({ task: { model, provider } }) => <Pair first={model} second={provider} />,
  },
  {
    title: "Account",
    from: "md",
    cell: ({ task: { account, key } }) => <Pair first={account?.name} second={key?.name} />,
  },
  ...LAST,
];

function Pair({
  first,
  second,
}: {
  readonly first: string | undefined;
  readonly second: string | undefined;
}) {
  return (
    <span class="flex min-w-24 flex-col">
      <bdi class="wrap-anywhere">{first}</bdi>
      <bdi class="text-xs wrap-anywhere text-soft">{second}</bdi>
    </span>
  );
}
