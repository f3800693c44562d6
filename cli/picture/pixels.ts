/** Straight RGBA, four bytes a pixel, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8Array;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** More than the service itself accepts. */
const MAX_PIXELS = 100_000_000;
/** Time for one picture. A damaged file may keep a decoder busy. */
const DECODING_SEC = 10;

/** Loaded late: it maps a library of several megabytes, and most commands draw nothing. */
const loadSharp = async () => (await import("sharp")).default;

/** Whether these are the first bytes of a drawing (SVG), as the service serves them. */
export function isDrawing(head: Uint8Array): boolean {
  return startOf(head).startsWith("<svg");
}

/** Formats made of pixels: PNG, JPEG, WebP, GIF, AVIF and HEIC. */
const PIXEL_FILE = /^(?:\x89PNG|\xff\xd8\xff|RIFF.{4}WEBP|GIF8|.{4}ftyp)/s;

const startOf = (head: Uint8Array): string => String.fromCharCode(...head.subarray(0, 12));

/** Decodes the file of a picture, or takes pixels, and scales it. @throws Error when it is none, or damaged */
export async function scalePicture(source: Uint8Array | Pixels, fit: (own: Size) => Size): Promise<Pixels> {
  const { image, size } = await open(source);
  const { width, height } = fit(size);
  const scaled = image.resize(width, height, { fit: "fill" }).toColourspace("srgb").ensureAlpha();
  return { width, height, rgba: new Uint8Array(await scaled.raw().toBuffer()) };
}

export async function encodePng(pixels: Pixels): Promise<Uint8Array> {
  return await (await open(pixels)).image.png().toBuffer();
}

/** The same picture in at most `colours` colours, transparency aside. */
export async function reduceColours(pixels: Pixels, colours: number): Promise<Pixels> {
  const reduced = await (await open(pixels)).image.png({ palette: true, colours }).toBuffer();
  return await scalePicture(reduced, () => pixels);
}

async function open(source: Uint8Array | Pixels) {
  const sharp = await loadSharp();
  if (!(source instanceof Uint8Array)) {
    const { width, height, rgba } = source;
    return { image: sharp(rgba, { raw: { width, height, channels: 4 } }), size: source };
  }
  // Drawing an SVG here would let it act with access to this user's files.
  if (!PIXEL_FILE.test(startOf(source))) throw new Error("it is no picture made of pixels");
  const image = sharp(source, { limitInputPixels: MAX_PIXELS, failOn: "error" })
    .autoOrient()
    .timeout({ seconds: DECODING_SEC });
  const { autoOrient } = await image.metadata();
  return { image, size: autoOrient };
}

/** An empty picture, transparent all over. */
export function emptyPixels(width: number, height: number): Pixels {
  return { width, height, rgba: new Uint8Array(width * height * 4) };
}

/** Copies a picture into a larger one. */
export function paste(onto: Pixels, picture: Pixels, left: number, top: number): void {
  for (let row = 0; row < picture.height; row++) {
    const line = picture.rgba.subarray(row * picture.width * 4, (row + 1) * picture.width * 4);
    onto.rgba.set(line, ((top + row) * onto.width + left) * 4);
  }
}
