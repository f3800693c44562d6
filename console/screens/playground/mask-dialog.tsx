import { useEffect, useRef, useState } from "preact/hooks";
import { fileUrl } from "../../api/files.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { mediaOfBlob } from "./files.ts";
import { CLEARING, isBlank, maskOf, type Stroke } from "./mask.ts";
import { MaskCanvas, type Painting } from "./mask-canvas.tsx";
import type { Media } from "./request.ts";

interface Props {
  readonly picture: Media;
  /** What the present mask was drawn with; the drawing goes on from there. */
  readonly drawn?: readonly Stroke[] | undefined;
  readonly onClose: () => void;
  readonly onMask: (mask: Media) => void;
}

const NOTHING: readonly Stroke[] = [];

/** Where the picture is changed, painted on it. Everything can be done by keyboard, too. */
export function MaskDialog({ picture, drawn = NOTHING, onClose, onMask }: Props) {
  const [strokes, setStrokes] = useState(drawn);
  const [image, setImage] = useState<HTMLImageElement>();
  const [trouble, setTrouble] = useState<string>();
  const [brush, setBrush] = useState(12);
  const [erases, setErases] = useState(false);
  const [zoom, setZoom] = useState(1);
  useEffect(() => {
    const loaded = new Image();
    loaded.onload = () => setImage(loaded);
    loaded.onerror = () => setTrouble("The picture cannot be shown here. Give it as a file to draw on it.");
    loaded.src = fileUrl(picture.uri);
  }, [picture.uri]);
  const painting: Painting = {
    ...{ brush, erases, zoom, strokes },
    ...{ onStrokes: setStrokes, onBrush: setBrush, onErases: setErases },
  };
  return (
    // What was painted is lost by the button alone that says so.
    <Dialog title="Draw what is changed" isWide isFirm={strokes !== drawn} onClose={onClose}>
      {trouble !== undefined && <p role="alert">{trouble}</p>}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: one shortcut for all that is within */}
      <div
        onKeyDown={(event) => {
          if (event.key !== "z" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          setStrokes(strokes.slice(0, -1));
        }}
      >
        {image !== undefined && <MaskCanvas image={image} {...painting} />}
        <Tools {...painting} onZoom={setZoom} />
      </div>
      <p class="mt-2 text-sm text-soft" id="mask-keys">
        By keyboard: arrows move the brush (with Shift further), Space paints, E erases or paints, + and −
        change the brush, Ctrl Z takes back.
      </p>
      <Ends {...{ image, strokes, onClose, onMask }} onTrouble={setTrouble} />
    </Dialog>
  );
}

interface EndsProps extends Pick<Props, "onClose" | "onMask"> {
  readonly image: HTMLImageElement | undefined;
  readonly strokes: readonly Stroke[];
  readonly onTrouble: (trouble: string) => void;
}

/** The buttons that close the dialog, with a mask or without. */
function Ends({ image, strokes, onClose, onMask, onTrouble }: EndsProps) {
  const [step, setStep] = useState<string>();
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  const use = async () => {
    if (image === undefined) return;
    setStep("Making the mask…");
    try {
      const mask = await mediaOfBlob(await maskOf(image, strokes), { name: "drawn mask" }, setStep);
      if (isOpen.current) onMask({ ...mask, strokes });
    } catch (error) {
      onTrouble(error instanceof Error ? error.message : String(error));
    } finally {
      setStep(undefined);
    }
  };
  return (
    <div class="mt-4 flex flex-wrap items-center gap-2">
      <Button
        look="main"
        isBusy={step !== undefined}
        disabled={isBlank(strokes) || image === undefined}
        onClick={() => void use()}
      >
        Use this mask
      </Button>
      <Button onClick={onClose}>Leave it</Button>
      {step !== undefined && <p role="status">{step}</p>}
    </div>
  );
}

function Tools({ onZoom, ...painting }: Painting & { readonly onZoom: (zoom: number) => void }) {
  const { brush, erases, zoom, strokes, onStrokes, onBrush, onErases } = painting;
  const isEmpty = isBlank(strokes);
  const addWhole = (whole: "painted" | "inverted") =>
    onStrokes([...strokes, { erases: false, brush: 0, points: [], whole }]);
  return (
    <div class="mt-3 flex flex-wrap items-center gap-2">
      <Slider label="Brush" min={1} max={60} value={brush} onValue={onBrush} />
      <Slider label="Zoom" min={1} max={8} value={zoom} onValue={onZoom} />
      <Button aria-pressed={erases} onClick={() => onErases(!erases)}>
        {erases ? "Erasing" : "Painting"}
      </Button>
      <Button disabled={strokes.length === 0} onClick={() => onStrokes(strokes.slice(0, -1))}>
        Undo
      </Button>
      <Button disabled={isEmpty} onClick={() => onStrokes([...strokes, CLEARING])}>
        Clear
      </Button>
      <Button onClick={() => addWhole("painted")}>Paint all</Button>
      <Button disabled={isEmpty} onClick={() => addWhole("inverted")}>
        Invert
      </Button>
    </div>
  );
}

interface SliderProps {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly value: number;
  readonly onValue: (value: number) => void;
}

function Slider({ label, min, max, value, onValue }: SliderProps) {
  return (
    <label class="flex items-center gap-2 text-sm">
      {label}
      <input
        type="range"
        {...{ min, max, value }}
        class="w-28 accent-accent"
        onInput={({ currentTarget }) => onValue(Number(currentTarget.value))}
      />
    </label>
  );
}
