import { Box, Text, type TextProps } from "ink";
import { memo, useMemo } from "react";
import { fitCells } from "../kit/cells.ts";
import { helpRows } from "../kit/help-rows.ts";
import { sparkline } from "../kit/sparkline.ts";
import { type Columns, columnsFor, headLine, type Moment, rowParts } from "./columns.ts";
import { detailLines, type Line } from "./detail.ts";
import { HELP, hintsOf } from "./help.ts";
import { type Layout, PANE_GAP } from "./layout.ts";
import { TABS, type Tab } from "./order.ts";
import { barsOf, endsPerMinute, NO_PACE } from "./pace.ts";
import { selectedIndex, selectedTask, type WatchState } from "./state.ts";
import type { WatchedTask } from "./task.ts";

/** How parts of the screen stand out; without colours where these are not wanted. */
export interface Look {
  readonly good: TextProps;
  readonly bad: TextProps;
  readonly busy: TextProps;
}

export function lookOf(isColoured: boolean): Look {
  if (!isColoured) return { good: {}, bad: { bold: true }, busy: {} };
  return { good: { color: "green" }, bad: { color: "red" }, busy: { color: "cyan" } };
}

interface ViewProps {
  readonly state: WatchState;
  readonly layout: Layout;
  readonly look: Look;
  /** What is watched. */
  readonly title: string;
}

/** Screens with fewer lines are without these: more lines than there are would be squeezed into each other. */
const [WITH_TABS, WITH_PACE] = [5, 6];

/** The whole screen. Of the tasks, only those that are seen are drawn. */
export function WatchView(props: ViewProps) {
  const { state, layout } = props;
  const { columns, rows } = layout.size;
  return (
    <Box flexDirection="column" width={columns} height={rows} overflow="hidden">
      <Title {...props} />
      {rows >= WITH_TABS && <Tabs {...props} />}
      {rows >= WITH_PACE && <PaceLine {...props} />}
      <Box flexGrow={1} gap={PANE_GAP} overflow="hidden">
        {state.isHelp ? <Help width={columns} height={layout.height + 1} /> : <Middle {...props} />}
      </Box>
      <Footer {...props} />
    </Box>
  );
}

function Title({ state, layout, look, title }: ViewProps) {
  const { columns } = layout.size;
  const standing = state.trouble === undefined ? (state.isRead ? "live" : "reading …") : "no answer";
  const style = state.trouble === undefined ? look.good : look.bad;
  const spent = state.spentToday === undefined ? "" : `today ${state.spentToday}  `;
  const room = columns - standing.length - spent.length - 1;
  return (
    <Text wrap="truncate">
      <Text bold>{fitCells(title, room)} </Text>
      {spent}
      <Text {...style}>{standing}</Text>
    </Text>
  );
}

const SHORT: Readonly<Record<Tab, string>> = {
  ...{
    all: "all",
    pending: "pend",
    processing: "proc",
    completed: "done",
    failed: "fail",
    cancelled: "canc",
  },
};

function Tabs({ state, layout }: ViewProps) {
  const words = (isShort: boolean) =>
    TABS.map((tab) => ({ tab, text: ` ${isShort ? SHORT[tab] : tab} ${state.counts[tab]} ` }));
  const long = words(false);
  const isLongFitting = long.reduce((sum, { text }) => sum + text.length, 0) <= layout.size.columns;
  return (
    <Text wrap="truncate">
      {(isLongFitting ? long : words(true)).map(({ tab, text }) => (
        <Text key={tab} inverse={tab === state.tab}>
          {text}
        </Text>
      ))}
    </Text>
  );
}

function PaceLine({ state, layout, look }: ViewProps) {
  const { pace, nowMs, sort, search, isSearching, order } = state;
  const left = fitCells(` ${endsPerMinute(pace, nowMs)}/min `, 10);
  const shown =
    search === "" && !isSearching ? "" : `  /${search}${isSearching ? "▏" : ""}  ${order.length} found`;
  const right = `  ${sort} first${shown}`;
  const bars = Math.max(0, Math.min(60, layout.size.columns - 10 - Bun.stringWidth(right)));
  return (
    <Text wrap="truncate">
      {left}
      <Text {...look.busy}>{sparkline(barsOf(pace, nowMs), bars)}</Text>
      {fitCells(right, layout.size.columns - 10 - bars)}
    </Text>
  );
}

function Middle(props: ViewProps) {
  const { state, layout, look } = props;
  const task = selectedTask(state);
  const isOpen = state.isDetail && task !== undefined;
  return (
    <>
      {layout.listWidth === 0 && isOpen ? null : <Table {...props} />}
      {isOpen ? <Pane {...{ state, layout, look, task }} /> : null}
    </>
  );
}

function Table({ state, layout, look }: ViewProps) {
  const { pace, nowMs, isOfAll } = state;
  const width = layout.listWidth === 0 ? layout.size.columns : layout.listWidth;
  // Two cells for the mark of the selected row, which is seen without colours, too.
  const columns = useMemo(() => columnsFor(width - 2, isOfAll), [width, isOfAll]);
  const moment = useMemo(() => ({ pace, nowMs }), [pace, nowMs]);
  const ids = state.order.slice(state.start, state.start + layout.height);
  const selected = selectedIndex(state) - state.start;
  return (
    <Box flexDirection="column" width={width}>
      <Text wrap="truncate" dimColor>
        {`  ${headLine(columns)}`}
      </Text>
      {ids.map((id, i) => {
        const task = state.tasks.get(id);
        if (task === undefined) return null;
        const at = task.hasEnded ? undefined : moment;
        return <Row key={id} {...{ task, columns, look }} moment={at} isSelected={i === selected} />;
      })}
      {ids.length === 0 ? <Text dimColor>{fitCells(`  ${nothingOf(state)}`, width)}</Text> : null}
    </Box>
  );
}

interface RowProps {
  readonly task: WatchedTask;
  readonly columns: Columns;
  /** Absent for a task that has ended, which time does not change. */
  readonly moment: Moment | undefined;
  readonly look: Look;
  readonly isSelected: boolean;
}

const NEVER: Moment = { pace: NO_PACE, nowMs: 0 };

/** Made anew only when it looks different. */
const Row = memo(({ task, columns, moment = NEVER, look, isSelected }: RowProps) => {
  const [before, status, after] = rowParts(columns, task, moment);
  return (
    <Text wrap="truncate" inverse={isSelected}>
      {isSelected ? "❯ " : "  "}
      {before}
      <Text {...styleOf(task, look)}>{status}</Text>
      {/* Ink looks at every character of a row: of those that end a row, only where they are seen. */}
      {isSelected ? after : after.trimEnd()}
    </Text>
  );
});

function styleOf({ status, hasEnded }: WatchedTask, { good, bad, busy }: Look): TextProps {
  if (status === "completed") return good;
  if (status === "failed") return bad;
  return hasEnded ? { dimColor: true } : busy;
}

function nothingOf({ isRead, search, tab, tasks }: WatchState): string {
  if (!isRead && tasks.size === 0) return "Reading tasks …";
  if (search !== "") return `No task has "${search}". Esc ends the search.`;
  return tab === "all" ? "No tasks yet." : `No task is ${tab}.`;
}

interface PaneProps extends Pick<ViewProps, "state" | "layout" | "look"> {
  readonly task: WatchedTask;
}

function Pane({ state, layout, look, task }: PaneProps) {
  const { paneWidth, paneHeight } = layout;
  const lines = detailLines(task, state.detail, state, paneWidth);
  const start = Math.min(state.detailStart, Math.max(0, lines.length - paneHeight));
  const styles = { title: { bold: true }, good: look.good, bad: look.bad, dim: { dimColor: true } } as const;
  const styleOfLine = ({ look: name }: Line): TextProps =>
    name === undefined || name === "picture" ? {} : styles[name];
  return (
    <Box flexDirection="column" width={paneWidth}>
      {lines.slice(start, start + paneHeight).map((line, i) => (
        // Lines have no identity but their place.
        <Text key={String(start + i)} wrap="truncate" {...styleOfLine(line)}>
          {line.text}
        </Text>
      ))}
    </Box>
  );
}

function Footer({ state, layout, look }: ViewProps) {
  const { columns } = layout.size;
  const { question, notice, trouble } = state;
  if (question !== undefined) return <Question {...question} width={columns} />;
  if (notice !== undefined)
    return <Text {...(notice.isBad ? look.bad : look.good)}>{fitCells(notice.text, columns)}</Text>;
  if (trouble !== undefined)
    return <Text {...look.bad}>{fitCells(`${trouble} Trying again.`, columns)}</Text>;
  return <Text dimColor>{fitCells(hintsOf(state), columns)}</Text>;
}

function Question({ verb, id, width }: { verb: "cancel" | "retry"; id: string; width: number }) {
  const text = verb === "cancel" ? `Cancel ${id}? y/n` : `Create a task like ${id}, at today's price? y/n`;
  return (
    <Text bold inverse>
      {fitCells(text, width)}
    </Text>
  );
}

function Help({ width, height }: { readonly width: number; readonly height: number }) {
  return (
    <Box flexDirection="column">
      {helpRows(HELP, { width, height }).map(([key, about]) => (
        <Text key={key + about} wrap="truncate">
          <Text bold>{key}</Text>
          {about}
        </Text>
      ))}
    </Box>
  );
}
