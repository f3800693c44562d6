import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { connection, reconnections } from "../api/connection.ts";
import { unreachable } from "../api/problem.ts";
import { knock, type Role } from "../api/session.ts";
import { Empty } from "../parts/empty.tsx";
import { Page, Reading } from "../parts/page.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { begin, hrefOf, itemName, screenName } from "./router.ts";
import type { ScreenProps } from "./screen-props.ts";
import { SCREENS, type ScreenEntry, screensOf } from "./screens.ts";

type Loaded = { readonly about: string } & (
  | { readonly Screen: ComponentType<ScreenProps> }
  | { readonly problem: unknown }
);

/** The screen that the address names. */
export function CurrentScreen({ role }: { readonly role: Role }) {
  const screens = screensOf(role);
  const first = screens[0]?.name ?? "";
  const name = screenName.value;
  useEffect(() => begin(first));
  const entry = screens.find((screen) => screen.name === (name || first));
  const item = itemName.value;
  if (entry === undefined || (item !== "" && entry.loadItem === undefined)) return <NoScreen role={role} />;
  return <LoadedScreen entry={entry} role={role} item={item} />;
}

function LoadedScreen({ entry, role, item }: { readonly entry: ScreenEntry } & ScreenProps) {
  const about = item === "" ? entry.name : `${entry.name}/`;
  const [loaded, setLoaded] = useState<Loaded>();
  const [turn, setTurn] = useState(0);
  const seen = reconnections.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a turn tries again, as does a service that is back
  useEffect(() => {
    let isLeft = false;
    const load = item === "" ? entry.load : (entry.loadItem ?? entry.load);
    load().then(
      ({ Screen }) => isLeft || setLoaded({ about, Screen }),
      async (error: unknown) => {
        // Of a script that is not there, browsers do not say whether the service is.
        await knock();
        const problem = connection.peek() === "lost" ? unreachable(error) : error;
        if (!isLeft) setLoaded({ about, problem });
      },
    );
    return () => {
      isLeft = true;
    };
  }, [about, turn, seen]);
  if (loaded?.about !== about) return <Reading what={entry.title.toLowerCase()} />;
  const again = () => {
    // After an update of the service, the files of the earlier page are gone. While it does not answer, a new page would not be there.
    if (turn > 0 && connection.peek() === "ok") location.reload();
    else setTurn(turn + 1);
  };
  if ("problem" in loaded) return <Trouble problem={loaded.problem} again={again} />;
  return <loaded.Screen key={item} role={role} item={item} />;
}

/** By which credential a session gets its role. */
const OPENED_BY: { readonly [Name in Role]: string } = {
  tenant: "an API key",
  operator: "a management token",
};

function NoScreen({ role }: { readonly role: Role }) {
  const first = screensOf(role)[0];
  const others = SCREENS.find(({ name, roles }) => name === screenName.value && !roles.includes(role));
  const [other] = others?.roles ?? [];
  const title =
    others === undefined || other === undefined
      ? "This address leads to no screen that you have"
      : `${others.title} is there for who signs in with ${OPENED_BY[other]}`;
  return (
    <Page title="There is nothing here">
      <Empty title={title}>
        {first !== undefined && (
          <a class="text-accent underline" href={hrefOf(first.name)}>
            Go to {first.title}
          </a>
        )}
      </Empty>
    </Page>
  );
}
