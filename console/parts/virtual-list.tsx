import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useEffect, useReducer, useRef, useState } from "preact/hooks";

interface Props {
  readonly label: string;
  readonly count: number;
  /** About how high a row is, in pixels; it is measured when it is shown. */
  readonly rowHeight: number;
  /** Height of the window onto the list, as CSS has it. */
  readonly height: string;
  readonly row: (index: number) => ComponentChildren;
  /** The rows near the end are shown: more may be read. */
  readonly onEnd?: () => void;
}

/** A list of which only the rows in sight are in the page, however long it is. */
export function VirtualList({ label, count, rowHeight, height, row, onEnd }: Props) {
  const box = useRef<HTMLElement>(null);
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const [virtualizer] = useState(
    () =>
      new Virtualizer<HTMLElement, HTMLElement>({
        count,
        getScrollElement: () => box.current,
        estimateSize: () => rowHeight,
        overscan: 8,
        ...{ scrollToFn: elementScroll, observeElementRect, observeElementOffset },
        onChange: () => redraw(undefined),
      }),
  );
  virtualizer.setOptions({ ...virtualizer.options, count });
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useEffect(() => virtualizer._willUpdate());
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1)?.index ?? -1;
  useEffect(() => {
    if (count > 0 && last >= count - 1) onEnd?.();
  }, [last, count, onEnd]);
  return (
    <section
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it has to be reached by keyboard
      tabIndex={0}
      aria-label={label}
      class="overflow-auto"
      style={{ height }}
    >
      <ul class="relative" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {shown.map(({ key, index, start }) => (
          <li
            key={key}
            data-index={index}
            ref={(element) => virtualizer.measureElement(element)}
            aria-setsize={count}
            aria-posinset={index + 1}
            class="absolute top-0 left-0 w-full"
            style={{ transform: `translateY(${start}px)` }}
          >
            {row(index)}
          </li>
        ))}
      </ul>
    </section>
  );
}
