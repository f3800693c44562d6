// Declares what the renderer uses of packages that ship no types.

declare module "*.woff" {
  /** Path of the font file, on disk or inside the executable. */
  const path: string;
  export default path;
}

declare module "opentype.js" {
  export interface Path {
    toPathData(decimalPlaces: number): string;
  }
  export interface Glyph {
    readonly index: number;
    readonly advanceWidth: number;
    getPath(x: number, y: number, fontSize: number): Path;
  }
  export interface Font {
    readonly unitsPerEm: number;
    charToGlyphIndex(character: string): number;
    charToGlyph(character: string): Glyph;
  }
  export function parse(buffer: ArrayBuffer): Font;
}

declare module "tinyh264/es/TinyH264.js" {
  export interface DecoderModule {
    _free(pointer: number): void;
  }
  const start: () => Promise<DecoderModule>;
  export default start;
}

declare module "tinyh264/es/TinyH264Decoder.js" {
  import type { DecoderModule } from "tinyh264/es/TinyH264.js";
  export default class TinyH264Decoder {
    readonly _decBuffer: number;
    constructor(module: DecoderModule, onPicture: (i420: Uint8Array, width: number, height: number) => void);
    /** Takes one access unit in Annex B form; reports a finished picture before it returns. */
    decode(accessUnit: Uint8Array): void;
    release(): void;
  }
}
