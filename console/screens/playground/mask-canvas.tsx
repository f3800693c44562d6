import { useEffect, useRef, useState } from "preact/hooks";
import { drawStrokes, type Point, type Stroke } from "./mask.ts";

/** What is painted with, and what was painted. */
export interface Painting {
  /** Percent of the picture's shorter side. */
  readonly brush: number;
  readonly erases: boolean;
  /** How many times larger the picture is than what fits into the dialog. */
  readonly zoom: number;
  readonly strokes: readonly Stroke[];
  readonly onStrokes: (strokes: readonly Stroke[]) => void;
  readonly onBrush: (brush: number) => void;
  readonly onErases: (erases: boolean) => void;
}

type BrushEvent = PointerEvent & { readonly currentTarget: HTMLElement };

const KEYS: Readonly<Record<string, Point>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** Pixels of the canvas's longer side: finer ones would only make drawing slow. */
const MOST_DRAWN = 1_800;

/** The picture, which is painted on with a mouse, a pen, one finger or the keyboard. Two fingers move and enlarge it. */
export function MaskCanvas({ image, ...painting }: Painting & { readonly image: HTMLImageElement }) {
  const { brush, zoom, strokes } = painting;
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState<Point>([0.5, 0.5]);
  const { current, ...pointer } = useBrush(painting, setCursor);
  const { naturalWidth, naturalHeight } = image;
  const scale = Math.min(1, MOST_DRAWN / Math.max(naturalWidth, naturalHeight));
  const [width, height] = [
    Math.max(1, Math.round(naturalWidth * scale)),
    Math.max(1, Math.round(naturalHeight * scale)),
  ];
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (context == null) return;
    drawStrokes(context, width, height, current === undefined ? strokes : [...strokes, current], "shown");
    drawBrush(context, [cursor[0] * width, cursor[1] * height], (brush / 200) * Math.min(width, height));
  }, [strokes, current, cursor, brush, width, height]);
  const showPlace = (at: Point) => centre(scroller.current, at);
  // biome-ignore lint/correctness/useExhaustiveDependencies: while it is painted, the picture stays where it is
  useEffect(() => showPlace(cursor), [zoom]);
  return (
    <div ref={scroller} class="max-h-[55dvh] overflow-auto [container-type:inline-size]">
      <div
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is painted on by keys, too
        tabIndex={0}
        aria-label={`Picture to paint on: ${strokes.length} strokes; brush at ${Math.round(cursor[0] * 100)} % from the left, ${Math.round(cursor[1] * 100)} % from the top`}
        aria-describedby="mask-keys"
        class="relative mx-auto cursor-crosshair touch-pinch-zoom select-none"
        style={{
          width: `calc(min(100cqw, 55dvh * ${naturalWidth / naturalHeight}) * ${zoom})`,
          aspectRatio: `${naturalWidth} / ${naturalHeight}`,
        }}
        onKeyDown={(event) => pressed(event, { ...painting, cursor, setCursor, showPlace })}
        {...pointer}
      >
        <img src={image.src} alt="" draggable={false} class="block size-full" />
        <canvas ref={canvas} {...{ width, height }} class="absolute inset-0 size-full opacity-60" />
      </div>
    </div>
  );
}

/** The line that is being painted, and what paints it. */
function useBrush({ brush, erases, strokes, onStrokes }: Painting, setCursor: (at: Point) => void) {
  const [current, setCurrent] = useState<Stroke>();
  const finish = (event: BrushEvent, isKept: boolean) => {
    if (!event.isPrimary) return;
    if (current !== undefined && isKept) onStrokes([...strokes, current]);
    setCurrent(undefined);
  };
  return {
    current,
    onPointerDown(event: BrushEvent) {
      if (!event.isPrimary || event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const at = pointOf(event);
      setCursor(at);
      setCurrent({ erases, brush, points: [at] });
    },
    onPointerMove(event: BrushEvent) {
      if (!event.isPrimary) return;
      const at = pointOf(event);
      setCursor(at);
      setCurrent((before) => before && { ...before, points: [...before.points, at] });
    },
    onPointerUp: (event: BrushEvent) => finish(event, true),
    // The browser took the finger over, to move or enlarge the picture with another one.
    onPointerCancel: (event: BrushEvent) => finish(event, false),
  };
}

/** Scrolls so that a place of the picture is in the middle. */
function centre(scroller: HTMLElement | null, [x, y]: Point): void {
  if (scroller === null) return;
  const { scrollWidth, scrollHeight, clientWidth, clientHeight } = scroller;
  scroller.scrollTo(x * scrollWidth - clientWidth / 2, y * scrollHeight - clientHeight / 2);
}

/** In shares of the picture. */
function pointOf({ clientX, clientY, currentTarget }: BrushEvent): Point {
  const box = currentTarget.getBoundingClientRect();
  return [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
}

/** A ring that is seen on light and on dark. */
function drawBrush(context: CanvasRenderingContext2D, [x, y]: Point, radius: number): void {
  context.globalCompositeOperation = "source-over";
  for (const [colour, line] of [
    ["#000", 3],
    ["#fff", 1],
  ] as const) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
  }
}

interface Pressed extends Painting {
  readonly cursor: Point;
  readonly setCursor: (cursor: Point) => void;
  readonly showPlace: (at: Point) => void;
}

/** Moves the brush and paints by keys. */
function pressed(event: KeyboardEvent, painting: Pressed): void {
  const { brush, erases, strokes, onStrokes, onBrush, onErases, cursor, setCursor, showPlace } = painting;
  const move = KEYS[event.key];
  // In a picture that is enlarged, steps on the screen stay as long as they were.
  const by = (event.shiftKey ? 0.1 : 0.02) / painting.zoom;
  const within = (at: number) => Math.min(1, Math.max(0, at));
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (move !== undefined) {
    const next: Point = [within(cursor[0] + move[0] * by), within(cursor[1] + move[1] * by)];
    setCursor(next);
    showPlace(next);
  } else if (event.key === " ") onStrokes([...strokes, { erases, brush, points: [cursor] }]);
  else if (event.key === "e" || event.key === "E") onErases(!erases);
  else if (event.key === "+" || event.key === "-")
    onBrush(Math.min(60, Math.max(1, brush + (event.key === "+" ? 1 : -1) * (brush > 10 ? 2 : 1))));
  else return;
  event.preventDefault();
}
