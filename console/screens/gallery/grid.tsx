import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useSight } from "../../parts/sight.ts";

/** Pixels between tiles. */
const GAP = 8;
/** How wide a tile is at least, in pixels: by telephone, on a desk, and on a wall. */
const [NARROW_TILE, TILE, WIDE_TILE] = [104, 180, 260];
/** Rows beyond those in sight that are there already. */
const MORE_ROWS = 3;

interface Props {
  readonly label: string;
  readonly count: number;
  readonly keyOf: (index: number) => string;
  readonly tile: (index: number) => ComponentChildren;
  /** The last rows are near: more may be read. */
  readonly onEnd: () => void;
}

interface Sight {
  readonly columns: number;
  /** Width and height of a tile. */
  readonly size: number;
  /** Rows: the first, and the one after the last. */
  readonly from: number;
  readonly to: number;
}

/** Tiles in rows, of which only those about in sight are in the page, however many there are. The page scrolls, not a part of it. */
export function Grid({ label, count, keyOf, tile, onEnd }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const { columns, size, from, to } = useSight(list, { columns: 1, size: TILE, from: 0, to: 0 }, sightOf);
  const isNearEnd = to * columns >= count;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each length
  useEffect(() => {
    if (isNearEnd && to > 0) onEnd();
  }, [isNearEnd, count, to]);
  const rows = Math.ceil(count / columns);
  const [first, end] = [from * columns, Math.min(count, to * columns)];
  const shown = Array.from({ length: Math.max(0, end - first) }, (_, place) => first + place);
  return (
    <ul
      ref={list}
      aria-label={label}
      // As wide as the window: pictures have no lines that get too long.
      data-wide
      class="grid w-full content-start gap-2"
      // Said once for all tiles: styles of each would be reckoned anew for every tile that comes into sight.
      style={{
        height: `${Math.max(0, rows * (size + GAP) - GAP)}px`,
        paddingTop: `${Math.min(from, rows) * (size + GAP)}px`,
        gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
        gridAutoRows: `${size}px`,
      }}
      onKeyDown={(event) => moveBy(event, columns)}
    >
      {shown.map((index) => (
        <li key={keyOf(index)} aria-setsize={count} aria-posinset={index + 1}>
          {tile(index)}
        </li>
      ))}
    </ul>
  );
}

function sightOf(element: HTMLElement): Sight {
  const { top, width } = element.getBoundingClientRect();
  const least = width < 640 ? NARROW_TILE : width < 2_000 ? TILE : WIDE_TILE;
  const columns = Math.max(1, Math.floor((width + GAP) / (least + GAP)));
  const size = Math.floor((width - GAP * (columns - 1)) / columns);
  const row = size + GAP;
  const from = Math.max(0, Math.floor(-top / row) - MORE_ROWS);
  return { columns, size, from, to: Math.max(0, Math.ceil((innerHeight - top) / row)) + MORE_ROWS };
}

/** Arrow keys go from tile to tile as the eye sees them. */
function moveBy(event: KeyboardEvent & { readonly currentTarget: HTMLElement }, columns: number): void {
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowLeft: -1, ArrowRight: 1 },
    ...{ ArrowUp: -columns, ArrowDown: columns },
  };
  const step = event.ctrlKey || event.metaKey || event.altKey ? undefined : steps[event.key];
  const at = document.activeElement?.closest("li")?.ariaPosInSet;
  if (step === undefined || at == null) return;
  event.preventDefault();
  const next = `li[aria-posinset="${Number(at) + step}"] a`;
  event.currentTarget.querySelector<HTMLElement>(next)?.focus();
}
