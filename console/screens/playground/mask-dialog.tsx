import { useEffect, useRef, useState } from "preact/hooks";
import { fileUrl } from "../../api/files.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { drawStrokes, maskOf, type Point, type Stroke } from "./mask.ts";
import type { Media } from "./request.ts";

interface Props {
  readonly picture: Media;
  readonly onClose: () => void;
  readonly onMask: (mask: Media) => void;
}

const KEYS: Readonly<Record<string, Point>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Where the picture is changed, painted on it. Everything can be done by keyboard, too. */
export function MaskDialog({ picture, onClose, onMask }: Props) {
  const [strokes, setStrokes] = useState<readonly Stroke[]>([]);
  const [image, setImage] = useState<HTMLImageElement>();
  const [trouble, setTrouble] = useState<string>();
  const [brush, setBrush] = useState(12);
  const [erases, setErases] = useState(false);
  useEffect(() => {
    const loaded = new Image();
    loaded.onload = () => setImage(loaded);
    loaded.onerror = () => setTrouble("The picture cannot be shown here. Give it as a file to draw on it.");
    loaded.src = fileUrl(picture.uri);
  }, [picture.uri]);
  const undo = () => setStrokes(strokes.slice(0, -1));
  const use = async () => {
    if (image === undefined) return;
    onMask({ uri: await maskOf(image, strokes), name: "drawn mask", isShown: true });
  };
  return (
    <Dialog title="Draw what is changed" onClose={onClose}>
      {trouble !== undefined && <p role="alert">{trouble}</p>}
      {image !== undefined && (
        <Canvas
          image={image}
          brush={brush}
          erases={erases}
          strokes={strokes}
          onStrokes={setStrokes}
          onBrush={setBrush}
          onErases={setErases}
          undo={undo}
        />
      )}
      <Tools
        brush={brush}
        erases={erases}
        strokes={strokes}
        onStrokes={setStrokes}
        onBrush={setBrush}
        onErases={setErases}
        undo={undo}
      />
      <p class="mt-2 text-sm text-soft" id="mask-keys">
        By keyboard: arrows move the brush (with Shift further), Space paints, E erases or paints, + and −
        change the brush, Ctrl Z takes back.
      </p>
      <div class="mt-4 flex gap-2">
        <Button look="main" disabled={strokes.length === 0 || image === undefined} onClick={() => void use()}>
          Use this mask
        </Button>
        <Button onClick={onClose}>Leave it</Button>
      </div>
    </Dialog>
  );
}

interface Painting {
  /** Percent of the picture's shorter side. */
  readonly brush: number;
  readonly erases: boolean;
  readonly strokes: readonly Stroke[];
  readonly onStrokes: (strokes: readonly Stroke[]) => void;
  readonly onBrush: (brush: number) => void;
  readonly onErases: (erases: boolean) => void;
  readonly undo: () => void;
}

function Tools({ brush, erases, strokes, onStrokes, onBrush, onErases, undo }: Painting) {
  return (
    <div class="mt-3 flex flex-wrap items-center gap-2">
      <label class="flex items-center gap-2 text-sm">
        Brush
        <input
          type="range"
          min={2}
          max={60}
          value={brush}
          class="w-28 accent-accent"
          onInput={({ currentTarget }) => onBrush(Number(currentTarget.value))}
        />
      </label>
      <Button aria-pressed={erases} onClick={() => onErases(!erases)}>
        {erases ? "Erasing" : "Painting"}
      </Button>
      <Button disabled={strokes.length === 0} onClick={undo}>
        Undo
      </Button>
      <Button disabled={strokes.length === 0} onClick={() => onStrokes([])}>
        Clear
      </Button>
      <Button onClick={() => onStrokes([...strokes, { erases: false, brush: 0, points: [], isAll: true }])}>
        Paint all
      </Button>
    </div>
  );
}

function Canvas({ image, ...painting }: Painting & { readonly image: HTMLImageElement }) {
  const { brush, erases, strokes, onStrokes } = painting;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [cursor, setCursor] = useState<Point>([0.5, 0.5]);
  const [current, setCurrent] = useState<Stroke>();
  const { naturalWidth, naturalHeight } = image;
  const scale = Math.min(1, 900 / Math.max(naturalWidth, naturalHeight));
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
  const finish = () => {
    if (current !== undefined) onStrokes([...strokes, current]);
    setCurrent(undefined);
  };
  const onKeyDown = (event: KeyboardEvent) => pressed(event, { ...painting, cursor, setCursor });
  return (
    <div
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is painted on by keys, too
      tabIndex={0}
      aria-label={`Picture to paint on: ${strokes.length} strokes; brush at ${Math.round(cursor[0] * 100)} % from the left, ${Math.round(cursor[1] * 100)} % from the top`}
      aria-describedby="mask-keys"
      class="relative mx-auto w-fit max-w-full cursor-crosshair touch-none"
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = pointOf(event);
        setCursor(at);
        setCurrent({ erases, brush, points: [at] });
      }}
      onPointerMove={(event) => {
        const at = pointOf(event);
        setCursor(at);
        if (current !== undefined) setCurrent({ ...current, points: [...current.points, at] });
      }}
      onPointerUp={finish}
      onPointerCancel={finish}
    >
      <img
        src={image.src}
        alt=""
        draggable={false}
        width={width}
        height={height}
        class="block h-auto max-h-[55dvh] w-auto max-w-full"
      />
      <canvas ref={canvas} {...{ width, height }} class="absolute inset-0 size-full opacity-60" />
    </div>
  );
}

/** In shares of the picture. */
function pointOf({ clientX, clientY, currentTarget }: PointerEvent & { currentTarget: HTMLElement }): Point {
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

/** Moves the brush, paints and takes back by keys. */
function pressed(
  event: KeyboardEvent,
  painting: Painting & { readonly cursor: Point; readonly setCursor: (cursor: Point) => void },
): void {
  const { brush, erases, strokes, onStrokes, onBrush, onErases, undo, cursor, setCursor } = painting;
  const move = KEYS[event.key];
  const by = event.shiftKey ? 0.1 : 0.02;
  const within = (at: number) => Math.min(1, Math.max(0, at));
  if (move !== undefined) setCursor([within(cursor[0] + move[0] * by), within(cursor[1] + move[1] * by)]);
  else if (event.key === " ") onStrokes([...strokes, { erases, brush, points: [cursor] }]);
  else if (event.key === "e") onErases(!erases);
  else if (event.key === "+" || event.key === "-")
    onBrush(Math.min(60, Math.max(2, brush + (event.key === "+" ? 2 : -2))));
  else if (event.key === "z" && (event.ctrlKey || event.metaKey)) undo();
  else return;
  event.preventDefault();
}
