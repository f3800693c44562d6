import { useEffect, useState } from "preact/hooks";
import { connection } from "../api/connection.ts";
import { knock, leave, type Session, version } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { Boundary } from "./boundary.tsx";
import { areKeysShown } from "./keys.ts";
import { KeysDialog } from "./keys-dialog.tsx";
import { hrefOf, itemName, screenName } from "./router.ts";
import { CurrentScreen } from "./screen.tsx";
import { screensOf } from "./screens.ts";
import { SessionEnded } from "./session-ended.tsx";
import { THEMES, type Theme, theme } from "./theme.ts";
import { say, Toasts } from "./toasts.tsx";

/** Everything around a screen: the ways to the others, who is signed in, and what is wrong with the connection. */
export function Frame({ session }: { readonly session: Session }) {
  const { role } = session;
  return (
    <div class="min-h-dvh lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
      <button
        type="button"
        class="fixed -top-20 left-3 z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:top-3"
        onClick={() => document.querySelector<HTMLElement>("main h1[tabindex]")?.focus()}
      >
        Skip to the content
      </button>
      <Side session={session} />
      <div class="min-w-0">
        <Lost />
        <main
          id="main"
          tabIndex={-1}
          class="mx-auto w-full max-w-[110rem] min-w-0 has-[[data-wide]]:max-w-none p-4 sm:p-6 lg:p-8"
        >
          <Boundary about={`${screenName.value}/${itemName.value}`}>
            <CurrentScreen role={role} />
          </Boundary>
        </main>
      </div>
      <Toasts />
      <KeysDialog role={role} />
      <SessionEnded />
    </div>
  );
}

function Side({ session }: { readonly session: Session }) {
  const [isOpen, setOpen] = useState(false);
  const at = screenName.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever went somewhere needs the menu no more
  useEffect(() => setOpen(false), [at, itemName.value]);
  const screens = screensOf(session.role);
  const current = at || screens[0]?.name;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys and focus come from what is inside
    <header
      class="sticky top-0 z-30 flex flex-col border-b border-line bg-card lg:h-dvh lg:border-r lg:border-b-0"
      onKeyDown={({ key, currentTarget }) => {
        if (key !== "Escape" || !isOpen) return;
        setOpen(false);
        currentTarget.querySelector<HTMLElement>("[aria-controls=menu]")?.focus();
      }}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        // An open menu would cover what has the focus now.
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) setOpen(false);
      }}
    >
      <div class="flex items-center gap-3 px-4 py-2.5 lg:py-4">
        <a href={hrefOf("")} class="grow text-lg font-semibold tracking-tight">
          svc
        </a>
        <div class="lg:hidden">
          <Button aria-expanded={isOpen} aria-controls="menu" onClick={() => setOpen(!isOpen)}>
            Menu
          </Button>
        </div>
      </div>
      <div
        id="menu"
        class={`${isOpen ? "flex" : "hidden"} max-h-[80dvh] grow flex-col gap-4 overflow-y-auto px-2 pb-3 lg:flex lg:max-h-none`}
      >
        <nav aria-label="Screens">
          <ul class="flex flex-col gap-0.5">
            {screens.map(({ name, title }) => (
              <li key={name}>
                <a
                  href={hrefOf(name)}
                  aria-current={current === name ? "page" : undefined}
                  class="block rounded-md px-3 py-1.5 text-soft hover:bg-sunk hover:text-ink aria-[current]:bg-sunk aria-[current]:font-medium aria-[current]:text-ink"
                >
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <Who session={session} />
      </div>
    </header>
  );
}

function Who({ session: { role, holder } }: { readonly session: Session }) {
  return (
    <div class="mt-auto flex flex-col gap-3 border-t border-line px-3 pt-3 text-sm">
      <p class="min-w-0">
        <span class="block text-soft">{role === "operator" ? "Management token" : "API key"}</span>
        <span class="block truncate font-medium" title={holder.name}>
          {holder.name}
        </span>
      </p>
      <label class="flex items-center justify-between gap-2 text-soft">
        Theme
        <select
          class="rounded border border-edge bg-card px-1.5 py-1 text-ink"
          value={theme.value}
          onChange={({ currentTarget }) => (theme.value = currentTarget.value as Theme)}
        >
          {THEMES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <div class="flex flex-wrap gap-2">
        <Button onClick={() => (areKeysShown.value = true)}>Shortcuts</Button>
        <Button onClick={() => void leave().catch((error: Error) => say(error.message, "failed"))}>
          Sign out
        </Button>
      </div>
      <p class="text-soft">Version {version.value}</p>
    </div>
  );
}

/** Milliseconds between questions whether a service that does not answer is back: of most screens nobody else asks. */
const KNOCK_MS = 2_000;

/** Tells when the service does not answer, and when it does again. */
function Lost() {
  const isLost = connection.value === "lost";
  useEffect(() => {
    if (!isLost) return;
    const timer = setInterval(() => document.hidden || void knock(), KNOCK_MS);
    return () => clearInterval(timer);
  }, [isLost]);
  return (
    <div role="status">
      {isLost && (
        <p class="border-b border-warn bg-card px-4 py-2 text-center text-warn">
          The service does not answer. What you see may be old; it is read anew as soon as the service is
          back.
        </p>
      )}
    </div>
  );
}
