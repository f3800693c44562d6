/** A place of the picture: parts of its width and of its height, 0 to 1. */
export type Point = readonly [x: number, y: number];

/** One movement of the brush. */
export interface Stroke {
  readonly erases: boolean;
  /** Width in percent of the picture's shorter side. */
  readonly brush: number;
  readonly points: readonly Point[];
  /** The whole picture in place of what a brush touched: painted, or each place made the other. */
  readonly whole?: "painted" | "inverted";
}

/** Takes back all that was painted before it; it can be taken back itself. */
export const CLEARING: Stroke = { erases: true, brush: 0, points: [], whole: "painted" };

/** Whether it is known that nothing is painted: a brush that erases may have taken all away, or not. */
export function isBlank(strokes: readonly Stroke[]): boolean {
  let painted: "nothing" | "all" | "some" = "nothing";
  for (const { erases, whole } of strokes) {
    const goal = erases ? "nothing" : "all";
    if (whole === "painted") painted = goal;
    else if (whole === "inverted")
      painted = painted === "some" ? "some" : painted === "all" ? "nothing" : "all";
    else if (painted !== goal) painted = "some";
  }
  return painted === "nothing";
}

/**
 * Paints strokes.
 *
 * @param how `shown`: as a colour over the picture; `mask`: opaque, and transparent where something was painted
 */
export function drawStrokes(
  context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
  width: number,
  height: number,
  strokes: readonly Stroke[],
  how: "shown" | "mask",
): void {
  const isMask = how === "mask";
  context.globalCompositeOperation = "source-over";
  context.clearRect(0, 0, width, height);
  context.fillStyle = "#000";
  if (isMask) context.fillRect(0, 0, width, height);
  context.lineCap = "round";
  context.lineJoin = "round";
  for (const { erases, brush, points, whole } of strokes) {
    // What is painted is transparent in a mask, and what is erased again is not.
    const paints = erases === isMask;
    context.globalCompositeOperation =
      whole === "inverted" ? "xor" : paints ? "source-over" : "destination-out";
    const colour = isMask ? "#000" : "rgb(255 64 64)";
    context.fillStyle = colour;
    context.strokeStyle = colour;
    if (whole !== undefined) context.fillRect(0, 0, width, height);
    else drawLine(context, points, (brush / 100) * Math.min(width, height), [width, height]);
  }
}

function drawLine(
  context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
  points: readonly Point[],
  width: number,
  [across, down]: readonly [number, number],
): void {
  const [first] = points;
  if (first === undefined) return;
  const [x, y] = [first[0] * across, first[1] * down];
  context.lineWidth = Math.max(1, width);
  // A line of no length is a dot, of which browsers draw nothing.
  context.beginPath();
  context.arc(x, y, context.lineWidth / 2, 0, 2 * Math.PI);
  context.fill();
  context.beginPath();
  context.moveTo(x, y);
  for (const [toX, toY] of points) context.lineTo(toX * across, toY * down);
  context.stroke();
}

/** A PNG as large as the picture, transparent where it was painted. @throws DOMException where this browser makes none so large */
export async function maskOf(image: HTMLImageElement, strokes: readonly Stroke[]): Promise<Blob> {
  const { naturalWidth: width, naturalHeight: height } = image;
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  if (context !== null) drawStrokes(context, width, height, strokes, "mask");
  return canvas.convertToBlob({ type: "image/png" });
}
