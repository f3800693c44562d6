import { Box, Text, type TextProps } from "ink";
import type { ReactNode } from "react";
import { formatAge } from "../../format/overview-view.ts";
import { fitCells } from "../kit/cells.ts";
import { helpRows } from "../kit/help-rows.ts";
import { sparkline } from "../kit/sparkline.ts";
import { HELP } from "./help.ts";
import { type Fact, factsOf, type Layout, PANEL_GAP } from "./layout.ts";
import { lastStart, type Shown, shownOf, type TopState } from "./state.ts";
import { SORTS, TABLES, type TableName, tableLines } from "./tables.ts";

/** How parts of the screen stand out; without colours where these are not wanted. */
export interface Look {
  readonly good: TextProps;
  readonly bad: TextProps;
  readonly line: TextProps;
}

export function lookOf(isColoured: boolean): Look {
  if (!isColoured) return { good: {}, bad: { bold: true }, line: {} };
  return { good: { color: "green" }, bad: { color: "red" }, line: { color: "cyan" } };
}

interface ViewProps {
  readonly state: TopState;
  readonly layout: Layout;
  readonly look: Look;
}

/** The whole screen: exactly as many lines as it has, each exactly as wide. */
export function TopView({ state, layout, look }: ViewProps) {
  const shown = shownOf(state);
  const { columns, rows } = layout.size;
  if (shown === undefined) return <Text>{fitCells(`Asking ${state.server} …`, columns)}</Text>;
  // The last numbers stay while nobody answers, but are shown as outdated.
  const isOld = state.trouble !== undefined;
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Title state={state} shown={shown} layout={layout} look={look} />
      {state.isHelp ? (
        <Help width={columns} height={layout.helpHeight} />
      ) : (
        <>
          <Rates shown={shown} width={columns} look={look} isOld={isOld} />
          <Facts facts={factsOf(shown.reading)} layout={layout} look={look} isOld={isOld} />
          {layout.tableHeight > 0 && <Tables state={state} shown={shown} layout={layout} isOld={isOld} />}
        </>
      )}
      <Box flexGrow={1} />
      <Footer state={state} width={columns} look={look} />
    </Box>
  );
}

function Title({ state, shown, layout, look }: ViewProps & { readonly shown: Shown }) {
  const { reading } = shown;
  const { columns } = layout.size;
  const [status, style] = statusOf(state, look);
  const up = formatAge(reading.time - reading.startedAt);
  const left = `svc ${reading.version}  ${reading.node}  up ${up}  ${state.server}`;
  const room = columns - status.length - 1;
  return (
    <Text wrap="truncate">
      <Text bold>{fitCells(left, room)} </Text>
      <Text {...style}>{fitCells(status, columns - room - 1)}</Text>
    </Text>
  );
}

function statusOf({ trouble, frozen, live }: TopState, { bad, good }: Look): [string, TextProps] {
  if (trouble !== undefined) return [`no answer for ${formatAge(trouble.forMs / 1_000)}`, bad];
  if (live?.reading.notReady !== undefined) return [`takes no tasks: ${live.reading.notReady}`, bad];
  return frozen === undefined ? ["live", good] : ["paused", { inverse: true }];
}

/** Before the bars: a name, a rate, and what is to be said of it. */
const [NAME_WIDTH, RATE_WIDTH, NOTE_WIDTH] = [9, 10, 21];

function Rates({ shown, width, look, isOld }: { shown: Shown; width: number; look: Look; isOld: boolean }) {
  const { requests, creates, models } = shown.reading;
  const failed = models.reduce((sum, model) => sum + model.failed, 0);
  const ended = models.reduce((sum, model) => sum + model.completed, failed);
  const errors = `4xx ${requests.clientErrors}  5xx ${requests.serverErrors}`;
  const ends = ended === 0 ? "" : `${failed} of ${ended} failed`;
  return (
    <>
      <Rate name="requests" {...{ width, look, isOld }} perSecond={requests.perSecond} bars={shown.requests}>
        <Text {...(requests.serverErrors > 0 ? look.bad : {})}>{fitCells(errors, NOTE_WIDTH)}</Text>
      </Rate>
      <Rate name="creates" {...{ width, look, isOld }} perSecond={creates.perSecond} bars={shown.creates}>
        <Text {...(failed > 0 ? look.bad : {})}>{fitCells(ends, NOTE_WIDTH)}</Text>
      </Rate>
    </>
  );
}

function Rate(props: {
  readonly name: string;
  readonly perSecond: number;
  readonly bars: readonly number[];
  readonly width: number;
  readonly look: Look;
  readonly isOld: boolean;
  readonly children: ReactNode;
}) {
  const { name, perSecond, bars, width, look, isOld } = props;
  const room = Math.max(0, width - NAME_WIDTH - RATE_WIDTH - NOTE_WIDTH - 3);
  return (
    <Text wrap="truncate" dimColor={isOld}>
      {fitCells(name, NAME_WIDTH)}
      <Text bold>{fitCells(`${perSecond}/s`, RATE_WIDTH, "right")}</Text>
      {"  "}
      {props.children} <Text {...look.line}>{sparkline(bars, room)}</Text>
    </Text>
  );
}

function Facts(props: { facts: readonly Fact[]; layout: Layout; look: Look; isOld: boolean }) {
  const { facts, layout, look, isOld } = props;
  const { factsPerLine, factWidth, factLines } = layout;
  const lines = Array.from({ length: factLines }, (_, i) =>
    facts.slice(i * factsPerLine, (i + 1) * factsPerLine),
  );
  return lines.map((line) => (
    <Text key={line[0]?.name} wrap="truncate" dimColor={isOld}>
      {line.map(({ name, value, isBad }) => (
        <Text key={name}>
          {`${fitCells(name, NAME_WIDTH)} `}
          <Text bold {...(isBad ? look.bad : {})}>
            {fitCells(value, factWidth - NAME_WIDTH - 2)}
          </Text>{" "}
        </Text>
      ))}
    </Text>
  ));
}

function Tables({ state, shown, layout, isOld }: Omit<ViewProps, "look"> & { shown: Shown; isOld: boolean }) {
  return (
    <Box gap={PANEL_GAP}>
      {layout.panels.map(({ table, width }) => (
        <Panel key={table} {...{ state, shown, layout, table, width, isOld }} />
      ))}
    </Box>
  );
}

interface PanelProps {
  readonly state: TopState;
  readonly shown: Shown;
  readonly layout: Layout;
  readonly table: TableName;
  readonly width: number;
  readonly isOld: boolean;
}

function Panel({ state, shown, layout, table, width, isOld }: PanelProps) {
  const { tableHeight, panels } = layout;
  const { head, rows } = tableLines(table, shown.reading, state.sorts[table], width);
  const start = Math.min(state.starts[table], lastStart(rows.length, tableHeight));
  const end = Math.min(rows.length, start + tableHeight);
  const place = rows.length <= tableHeight ? "" : `${start + 1}-${end} of ${rows.length}`;
  const names = panels.length === 1 ? TABLES : [table];
  return (
    <Box flexDirection="column" width={width}>
      <Text wrap="truncate" dimColor={isOld}>
        {names.map((name) => (
          <Text key={name} inverse={name === state.table}>
            {` ${name} ${shown.reading[name].length} `}
          </Text>
        ))}
        {`  ${place}`}
      </Text>
      <Text wrap="truncate" dimColor>
        {head}
      </Text>
      {rows.slice(start, end).map(({ id, line }) => (
        <Text key={id} wrap="truncate" dimColor={isOld}>
          {line}
        </Text>
      ))}
      {rows.length === 0 ? <Text dimColor>{fitCells(NOTHING[table], width)}</Text> : undefined}
    </Box>
  );
}

const NOTHING: Readonly<Record<TableName, string>> = {
  models: "No task ended in the last hour.",
  lanes: "No provider is switched on.",
  providers: "No provider is switched on.",
};

function Footer({ state, width, look }: { state: TopState; width: number; look: Look }) {
  const { trouble, table, sorts } = state;
  if (trouble !== undefined) {
    return (
      <Text wrap="truncate" {...look.bad}>
        {fitCells(`${trouble.message} Asking again.`, width)}
      </Text>
    );
  }
  const sort = SORTS[table][sorts[table]]?.title.toLowerCase() ?? "";
  const keys = `q quit  ? help  tab table  s sort: ${sort}  ↑↓ scroll  p ${state.frozen ? "go on" : "pause"}`;
  return (
    <Text wrap="truncate" dimColor>
      {fitCells(keys, width)}
    </Text>
  );
}

function Help({ width, height }: { readonly width: number; readonly height: number }) {
  return helpRows(HELP, { width, height }).map(([key, about]) => (
    <Text key={key + about} wrap="truncate">
      <Text bold>{key}</Text>
      {about}
    </Text>
  ));
}
