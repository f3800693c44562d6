import { useEffect, useState } from "preact/hooks";

/**
 * What of a long list is in sight: looked at when the page is scrolled, and when the window or the list changes its size. The page scrolls,
 * not a part of it.
 *
 * @param look measures; equal answers draw nothing anew
 */
export function useSight<Sight, Place extends HTMLElement>(
  list: { readonly current: Place | null },
  before: Sight,
  look: (list: Place) => Sight,
): Sight {
  const [sight, setSight] = useState(before);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it listens for as long as the list is there
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const see = () => {
      const now = look(element);
      setSight((last) => (JSON.stringify(last) === JSON.stringify(now) ? last : now));
    };
    const sizes = new ResizeObserver(see);
    sizes.observe(element);
    sizes.observe(document.body);
    addEventListener("scroll", see, { passive: true });
    addEventListener("resize", see);
    see();
    return () => {
      sizes.disconnect();
      removeEventListener("scroll", see);
      removeEventListener("resize", see);
    };
  }, []);
  return sight;
}
