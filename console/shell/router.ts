import { computed, signal } from "@preact/signals";
import { ROOT } from "../api/connection.ts";
import { goTo, goToTop, placeNow } from "./place.ts";

const BASE = `${ROOT.pathname}console`;

const here = signal(read());

function read() {
  const { pathname, search } = location;
  return { path: pathname.slice(BASE.length).replace(/^\/+|\/+$/g, ""), search };
}

/** The screen that the address names; empty at the start. */
export const screenName = computed(() => here.value.path.split("/")[0] ?? "");
/** What the screen shows one of; empty for a screen as a whole. */
export const itemName = computed(() => decoded(here.value.path.split("/").slice(1).join("/")));
/** What the address says after `?`: filters are there, so that a link shows what its sender saw. */
export const query = computed<Readonly<Record<string, string>>>(() =>
  Object.fromEntries(new URLSearchParams(here.value.search)),
);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a screen, for links. Empty filters are left out. */
export function hrefOf(
  screen: string,
  item = "",
  filters: Readonly<Record<string, string | undefined>> = {},
): string {
  const search = new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  ).toString();
  const path = [BASE, screen, encodeURIComponent(item)].filter((part) => part !== "").join("/");
  return search === "" ? path : `${path}?${search}`;
}

/** Goes to an address of the console. */
export function go(href: string): void {
  const { path } = here.peek();
  history.replaceState(placeNow(), "");
  history.pushState(null, "", href);
  here.value = read();
  if (here.peek().path !== path) goToTop();
}

/** Names the screen in an address that names none. */
export function begin(screen: string): void {
  if (screenName.peek() !== "") return;
  history.replaceState(null, "", hrefOf(screen, "", query.peek()));
  here.value = read();
}

/** Changes filters in place: the way back leaves the screen, not one letter of a filter. */
export function setQuery(change: Readonly<Record<string, string | undefined>>): void {
  const [screen, item] = [screenName.peek(), itemName.peek()];
  history.replaceState(null, "", hrefOf(screen, item, { ...query.peek(), ...change }));
  here.value = read();
}

/** How many things keep the reader on the present screen. */
let holds = 0;

/** Keeps the reader on this screen, also on the browser's way back. @returns what ends it */
export function stay(): () => void {
  holds += 1;
  return () => {
    holds -= 1;
  };
}

/** Follows the browser's way back, and links of the console without loading the page anew. */
export function startRouter(): void {
  history.scrollRestoration = "manual";
  goTo(history.state);
  addEventListener("pagehide", () => history.replaceState(placeNow(), ""));
  addEventListener("popstate", () => {
    if (holds === 0) {
      here.value = read();
      goTo(history.state);
    } else history.pushState(null, "", hrefOf(screenName.peek(), itemName.peek(), query.peek()));
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (
      link === null ||
      !isPlain ||
      event.defaultPrevented ||
      link.target !== "" ||
      link.hasAttribute("download")
    )
      return;
    const { origin, pathname, hash } = new URL(link.href);
    const isOurs = origin === location.origin && (pathname === BASE || pathname.startsWith(`${BASE}/`));
    if (!isOurs || hash !== "") return;
    event.preventDefault();
    go(link.href);
  });
}
