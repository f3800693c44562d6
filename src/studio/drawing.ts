import { blend, hex, type Palette, type Rgb } from "./palette.ts";
import type { Random } from "./random.ts";

/** Where a layer is at one moment, relative to where the still picture has it. */
export interface Pose {
  /** Shift in design units. */
  readonly dx?: number;
  readonly dy?: number;
  /** Turn about the layer's pivot, radians. */
  readonly angle?: number;
  readonly zoom?: number;
  /** 0 … 1 */
  readonly opacity?: number;
}

/** A rectangle in design units. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** One sheet of a scene: SVG elements, and how the sheet moves when the scene is a video. */
export interface Layer {
  readonly body: string;
  /** What the sheet covers; larger than the frame when it moves. */
  readonly box: Box;
  readonly pivot?: { readonly x: number; readonly y: number };
  /** @param t seconds since the start; a picture is the moment 0, and every layer is unmoved then */
  readonly pose?: (t: number) => Pose;
}

/** A drawing in design units: the shorter side is 1000, the longer at most 8000. */
export interface Scene {
  readonly width: number;
  readonly height: number;
  /** From the back to the front. The first covers the whole frame. */
  readonly layers: readonly Layer[];
}

export interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
  readonly random: Random;
  /** What the prompt says about the time of day, if anything. */
  readonly night: boolean | undefined;
}

/** The whole frame, for layers that do not move. */
export function frameBox(canvas: { width: number; height: number }, margin = 0): Box {
  return { x: -margin, y: -margin, width: canvas.width + 2 * margin, height: canvas.height + 2 * margin };
}

export function rectangle(box: Box, fill: string): string {
  return `<rect x="${n(box.x)}" y="${n(box.y)}" width="${n(box.width)}" height="${n(box.height)}" fill="${fill}"/>`;
}

export interface Stop {
  readonly at: number;
  readonly colour: Rgb;
  readonly opacity?: number;
}

/** A straight gradient; `from` and `to` are fractions of the painted shape's box. */
export function linearGradient(
  id: string,
  stops: readonly Stop[],
  to: readonly [number, number] = [0, 1],
): string {
  return `<linearGradient id="${id}" x1="0" y1="0" x2="${to[0]}" y2="${to[1]}">${smoothStops(stops)}</linearGradient>`;
}

export function radialGradient(id: string, stops: readonly Stop[]): string {
  return `<radialGradient id="${id}">${smoothStops(stops)}</radialGradient>`;
}

/** A radial gradient of one colour, from an opacity at the centre to nothing at the rim. */
export function glow(id: string, colour: Rgb, opacity: number, middle?: Omit<Stop, "colour">): string {
  const between = middle === undefined ? [] : [{ ...middle, colour }];
  return radialGradient(id, [{ at: 0, colour, opacity }, ...between, { at: 1, colour, opacity: 0 }]);
}

/** A number as SVG likes it: one decimal, no trailing zero. */
export function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}

// Renderers mix stops in sRGB; a midpoint taken in OKLab keeps long gradients from turning muddy.
function smoothStops(stops: readonly Stop[]): string {
  let text = "";
  stops.forEach((stop, i) => {
    const before = stops[i - 1];
    if (before !== undefined) {
      const opacity = ((before.opacity ?? 1) + (stop.opacity ?? 1)) / 2;
      text += stopElement({
        at: (before.at + stop.at) / 2,
        colour: blend(before.colour, stop.colour, 0.5),
        opacity,
      });
    }
    text += stopElement(stop);
  });
  return text;
}

function stopElement(stop: Stop): string {
  const opacity =
    stop.opacity === undefined ? "" : ` stop-opacity="${Math.round(stop.opacity * 1000) / 1000}"`;
  return `<stop offset="${Math.round(stop.at * 1000) / 1000}" stop-color="${hex(stop.colour)}"${opacity}/>`;
}
