/* A small program on the screen, for screen.test.ts: shows what it was told, and ends in every way there is. */
import { Text } from "ink";
import { openScreen, type Screen } from "../../../cli/tui/kit/screen.tsx";

interface State {
  readonly seen: readonly string[];
  readonly isBroken: boolean;
}
type Event = { readonly key: string } | { readonly broken: true };

function View({ seen, isBroken, title }: State & { readonly title: string }) {
  if (isBroken) throw new Error("the view is broken");
  return (
    <Text>
      {title}: {seen.join(" ")}
    </Text>
  );
}

const WAYS: Readonly<Record<string, (screen: Screen<State, Event>) => void>> = {
  q: (screen) => screen.close(),
  e: () => process.exit(7),
  t: () => void setTimeout(() => JSON.parse("thrown in a timer"), 0),
  u: () => void Promise.reject(new Error("rejected and not awaited")),
  b: (screen) => screen.dispatch({ broken: true }),
  y: (screen) => screen.copy("copied"),
};

const screen = openScreen<State, Event>({
  initial: { seen: [], isBroken: false },
  reduce: (state, event) =>
    "key" in event ? { ...state, seen: [...state.seen, event.key] } : { ...state, isBroken: true },
  draw: (state, { columns, rows }) => <View {...state} title={`${columns}x${rows}`} />,
  onKey(key, on) {
    on.dispatch({ key });
    WAYS[key]?.(on);
  },
  onPaste: (text, on) => on.dispatch({ key: `pasted(${text})` }),
});
await screen.closed.catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
