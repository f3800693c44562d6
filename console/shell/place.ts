/* Where the reader was on a page, which the browser's way back finds again. Browsers would look for it before anything is read. */

/** How long a list may take to get there, in milliseconds. */
const WITHIN_MS = 10_000;

/** Where the page is scrolled to, for the history. */
export function placeNow(): { readonly top: number } {
  return { top: Math.round(scrollY) };
}

/** Ends what is still on its way to a place. */
let giveUp = () => {};

/** Goes to a place of the history as far as the page has it, and on as it grows, until it is there or the reader moves. */
export function goTo(place: unknown): void {
  giveUp();
  const top = placeOf(place);
  const over = new AbortController();
  const step = () => {
    scrollTo({ top });
    if (Math.abs(scrollY - top) < 2) over.abort();
  };
  const growth = new ResizeObserver(step);
  growth.observe(document.body);
  const due = setTimeout(() => over.abort(), WITHIN_MS);
  giveUp = () => over.abort();
  over.signal.addEventListener("abort", () => {
    growth.disconnect();
    clearTimeout(due);
  });
  for (const name of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(name, giveUp, { signal: over.signal, passive: true });
}

/** Another page begins at its top. */
export function goToTop(): void {
  giveUp();
  scrollTo({ top: 0 });
}

function placeOf(state: unknown): number {
  const isPlace = typeof state === "object" && state !== null && "top" in state;
  return isPlace && typeof state.top === "number" ? state.top : 0;
}
