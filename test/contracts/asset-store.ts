import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { MediaKind, StoredFile } from "../../src/domain/media/asset.ts";
import {
  type AssetStore,
  MediaError,
  type PutOptions,
  type StagedFile,
} from "../../src/domain/ports/asset-store.ts";
import {
  type Bytes,
  bombPng,
  CANARY,
  concat,
  contains,
  gif,
  inPieces,
  insert,
  jpeg,
  picture,
  png,
  pngChunk,
  text,
  webp,
  withMetadata,
} from "../helpers/media.ts";
import { mkv, mp4, webm } from "../helpers/media-video.ts";

export interface AssetStoreUnderTest {
  readonly store: AssetStore;
  /** Temporary files or unfinished uploads left behind. */
  leftovers(): Promise<number>;
  remove(): Promise<void>;
}

const ANY: PutOptions = { accept: ["image", "video"], maxBytes: 10_000_000, sanitize: false };

/** Of what a provider made. */
const MADE: PutOptions = { ...ANY, isOutput: true };
const DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 6"><path d="M0 0H8V6z"/></svg>';

/** What every asset store promises. `make` gives a new, empty one. */
export function describeAssetStore(name: string, make: () => Promise<AssetStoreUnderTest>): void {
  describe(name, () => {
    let subject: AssetStoreUnderTest;
    let store: AssetStore;
    beforeEach(async () => {
      subject = await make();
      store = subject.store;
    });
    afterEach(async () => {
      expect(await subject.leftovers()).toBe(0);
      await subject.remove();
    });

    const contentOf = async (file: StoredFile) => (await store.open(file))?.bytes();

    /** Receives bytes in small pieces. */
    async function received(bytes: Uint8Array) {
      const file = await store.receive();
      for await (const piece of inPieces(bytes, 100)) await file.append(piece);
      return file;
    }

    test("a file that was received is checked as one that was given, by the options known then", async () => {
      const bytes = await png(30, 20);
      const file = await received(bytes);
      expect(Buffer.concat(await Array.fromAsync(file.read(64)))).toEqual(Buffer.from(bytes));
      const staged = await file.stage({ ...ANY, sanitize: true });
      await file.discard();
      await staged.keep();
      await staged.release(true);
      expect(await contentOf(staged.file)).toEqual(bytes);
      expect(staged.file).toEqual(await store.put(bytes, { ...ANY, sanitize: true }));
    });

    test("a received file that is refused, or that nobody wants, leaves nothing", async () => {
      const refused = await received(await png(3, 2));
      expect(refused.stage({ ...ANY, accept: ["video"] })).rejects.toThrow("is an image, where");
      const large = await received(await png(3, 2));
      expect(large.stage({ ...ANY, maxBytes: 10 })).rejects.toThrow("is larger than 10 bytes");
      const unwanted = await received(await png(3, 2));
      await unwanted.discard();
      await unwanted.discard();
      await Promise.all([refused.discard(), large.discard()]);
    });

    const whole: [string, () => Promise<Bytes>, Partial<StoredFile>][] = [
      ["PNG", () => png(3, 2), { type: "image/png", width: 3, height: 2, hasAlpha: false }],
      ["JPEG", () => jpeg(20, 10), { type: "image/jpeg", width: 20, height: 10, hasAlpha: false }],
      ["WebP", () => webp(20, 10), { type: "image/webp", width: 20, height: 10, hasAlpha: false }],
      ["GIF", () => gif(16, 12), { type: "image/gif", width: 16, height: 12, hasAlpha: true }],
      [
        "GIF of three frames",
        () => gif(16, 12, 3),
        { type: "image/gif", width: 16, height: 12, durationMs: 300, hasAlpha: true },
      ],
      ["SVG", async () => text(DRAWING), { type: "image/svg+xml", width: 8, height: 6, hasAlpha: true }],
      ["MP4", () => mp4(), { type: "video/mp4", width: 64, height: 48, durationMs: 1000 }],
      ["WebM", () => webm(), { type: "video/webm", width: 64, height: 48, durationMs: 1000 }],
    ];
    test.each(whole)("a %s is stored as it is, from memory or from a stream", async (_, make, expected) => {
      const bytes = await make();
      const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
      const stored = await store.put(bytes, MADE);
      expect(stored).toEqual({ sha256, sizeBytes: bytes.length, ...expected } as StoredFile);
      expect(await store.put(inPieces(bytes, 7), MADE)).toEqual(stored);
      const opened = await store.open(stored);
      expect(opened?.type).toBe(stored.type);
      expect(await opened?.bytes()).toEqual(bytes);
      expect(await opened?.slice(2, 5).bytes()).toEqual(bytes.subarray(2, 5));
    });

    test("equal content put at the same time is one file", async () => {
      const bytes = await png(5, 5);
      const stored = await Promise.all(
        Array.from({ length: 8 }, (_, i) => store.put(i % 2 === 0 ? bytes : inPieces(bytes), ANY)),
      );
      expect(new Set(stored.map((file) => file.sha256)).size).toBe(1);
    });

    test("a file that is not there is undefined", async () => {
      expect(await store.open({ sha256: "0".repeat(64), sizeBytes: 1, type: "image/png" })).toBeUndefined();
      expect(
        await store.open({ sha256: "../../etc/passwd", sizeBytes: 1, type: "image/png" }),
      ).toBeUndefined();
    });

    test("a file of another size than recorded is undefined", async () => {
      const stored = await store.put(await png(), ANY);
      expect(await store.open({ ...stored, sizeBytes: stored.sizeBytes + 1 })).toBeUndefined();
    });

    const refused: [string, MediaError["reason"], () => Promise<Uint8Array> | Uint8Array, MediaKind[]?][] = [
      ["nothing", "empty", () => new Uint8Array(0)],
      ["text", "unrecognised", () => text("hello")],
      ["an SVG", "unrecognised", () => text('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')],
      ["an HTML page", "unrecognised", () => text("<!doctype html><script>alert(1)</script>")],
      ["a GIF", "unrecognised", () => gif(2, 2)],
      ["a TIFF", "unrecognised", async () => new Uint8Array(await picture(2, 2).tiff().toBuffer())],
      [
        "an AVIF",
        "unrecognised",
        async () => new Uint8Array(await picture(16, 16).avif({ effort: 0 }).toBuffer()),
      ],
      ["Matroska other than WebM", "unrecognised", () => mkv()],
      ["a PNG behind other bytes", "unrecognised", async () => concat(text(" "), await png())],
      ["a video for an image", "wrong_kind", () => mp4(), ["image"]],
      ["an image for a video", "wrong_kind", () => png(), ["video"]],
      [
        "a PNG signature with a page behind",
        "damaged",
        async () => concat((await png()).subarray(0, 8), text("<html>".repeat(20))),
      ],
      ["a truncated PNG", "damaged", async () => (await png(50, 50)).subarray(0, -20)],
      ["a truncated JPEG", "damaged", async () => (await jpeg(50, 50)).subarray(0, -40)],
      ["a truncated WebP", "damaged", async () => (await webp(50, 50)).subarray(0, -40)],
      ["a truncated MP4", "damaged", async () => (await mp4()).subarray(0, -400)],
      ["a truncated WebM", "damaged", async () => (await webm()).subarray(0, -400)],
      ["a PNG of 50,000² pixels", "too_many_pixels", () => bombPng(50_000, 50_000, 10)],
      ["a PNG of 16,383² pixels", "too_many_pixels", () => bombPng(16_383, 16_383)],
      ["a PNG of 20,000×1 pixels", "too_many_pixels", () => bombPng(20_000, 1)],
      ["a PNG of no pixels", "damaged", () => bombPng(0, 5)],
    ];
    for (const [what, reason, make, accept] of refused) {
      test(`${what} is refused: ${reason}`, async () => {
        const bytes = await make();
        const options = { ...ANY, accept: accept ?? ANY.accept };
        for (const source of [bytes, inPieces(bytes)]) {
          const error = await store.put(source, options).catch((thrown: unknown) => thrown);
          expect(error).toBeInstanceOf(MediaError);
          expect(error).toMatchObject({ reason });
        }
      });
    }

    test("a drawing is made anew of what is harmless, wherever it comes from and whatever is kept", async () => {
      const hostile = text(DRAWING.replace("<path", '<script>alert(1)</script><path onclick="alert(1)"'));
      for (const sanitize of [false, true, "output"] as const) {
        for (const source of [hostile, inPieces(hostile)]) {
          const stored = await store.put(source, { ...MADE, sanitize });
          expect(await contentOf(stored)).toEqual(text(DRAWING));
        }
      }
    });

    test.each([
      ["GIF", async () => (await gif(16, 12, 2)).subarray(0, -1)],
      ["SVG", () => text(DRAWING.slice(0, -1))],
    ] as const)("a %s that is cut short is refused from a provider too", async (_, make) => {
      const bytes = await make();
      for (const source of [bytes, inPieces(bytes)])
        expect(await store.put(source, MADE).catch((error) => error.reason)).toBe("damaged");
    });

    test("a file of exactly the limit is taken, one byte more is not", async () => {
      for (const bytes of [await png(9, 9), await mp4()]) {
        const atLimit = { ...ANY, maxBytes: bytes.length };
        expect((await store.put(bytes, atLimit)).sizeBytes).toBe(bytes.length);
        expect((await store.put(inPieces(bytes), atLimit)).sizeBytes).toBe(bytes.length);
        const below = { ...ANY, maxBytes: bytes.length - 1 };
        for (const source of [bytes, inPieces(bytes)]) {
          expect(await store.put(source, below).catch((error) => error.reason)).toBe("too_large");
        }
      }
    });

    test("an endless stream is left at the first byte too many", async () => {
      let sent = 0;
      let isLeft = false;
      async function* endless() {
        try {
          yield (await png()).subarray(0, 40);
          for (;;) {
            sent += 1000;
            yield new Uint8Array(1000);
          }
        } finally {
          isLeft = true;
        }
      }
      expect(await store.put(endless(), { ...ANY, maxBytes: 50_000 }).catch((error) => error.reason)).toBe(
        "too_large",
      );
      expect({ sent, isLeft }).toEqual({ sent: 50_000, isLeft: true });
    });

    test("a stream of an unknown type is left as soon as that is known", async () => {
      let sent = 0;
      async function* page() {
        for (;;) {
          sent += 1000;
          yield text("<html>".padEnd(1000));
        }
      }
      expect(await store.put(page(), ANY).catch((error) => error.reason)).toBe("unrecognised");
      expect(sent).toBe(1000);
    });

    test.each([
      ["a few kilobytes", 50],
      ["more", 300],
    ])("a sender of %s may use its memory again for the next piece", async (_, side) => {
      const bytes = new Uint8Array(await picture(side, side).png({ compressionLevel: 0 }).toBuffer());
      async function* reused() {
        const piece = new Uint8Array(1_000);
        for (let at = 0; at < bytes.length; at += piece.length) {
          const part = bytes.subarray(at, at + piece.length);
          piece.set(part);
          yield piece.subarray(0, part.length);
        }
      }
      const { sizeBytes, sha256 } = await store.put(reused(), ANY);
      expect({ sizeBytes, sha256 }).toEqual({
        sizeBytes: bytes.length,
        sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex"),
      });
    });

    test("what the source throws comes through unchanged", async () => {
      const failure = new Error("the connection broke");
      async function* broken() {
        yield (await png()).subarray(0, 30);
        throw failure;
      }
      expect(await store.put(broken(), ANY).catch((error: unknown) => error)).toBe(failure);
    });

    const tagged: [string, () => Promise<Bytes>][] = [
      ["PNG", async () => new Uint8Array(await withMetadata(picture(30, 20)).png().toBuffer())],
      ["JPEG", async () => new Uint8Array(await withMetadata(picture(30, 20)).jpeg().toBuffer())],
      ["WebP", async () => new Uint8Array(await withMetadata(picture(30, 20)).webp().toBuffer())],
      ["MP4", () => mp4({ tags: { comment: CANARY } })],
      ["WebM", () => webm({ tags: { comment: CANARY } })],
    ];
    test.each(tagged)("metadata of a %s is taken out when asked, and only then", async (_, make) => {
      const bytes = await make();
      expect(contains(bytes, CANARY)).toBe(true);
      expect(await contentOf(await store.put(bytes, ANY))).toEqual(bytes);
      for (const wanted of [true, "output"] as const) {
        const sanitize = { ...ANY, sanitize: wanted };
        const stored = await store.put(bytes, sanitize);
        const content = (await contentOf(stored)) ?? bytes;
        expect(contains(content, CANARY)).toBe(false);
        expect(stored).toMatchObject({ sizeBytes: content.length });
        expect(await store.put(inPieces(bytes), sanitize)).toEqual(stored);
        expect(await store.put(content, sanitize)).toEqual(stored);
      }
    });

    // A segment is as long as its length, which counts its own two bytes, says.
    const jumbf = concat(new Uint8Array([0xff, 0xeb, 0, 15]), text("JP\0\0jumb-c2pa"));
    const manifest = Uint8Array.fromHex("0000001875756964d8fec3d61b0e483c92975828877ec481");
    const signed: [string, () => Promise<Bytes>][] = [
      ["PNG", async () => insert(await tagged[0]![1](), 33, pngChunk("caBX", text("jumb-c2pa")))],
      ["JPEG", async () => insert(await tagged[1]![1](), 2, jumbf)],
      ["MP4", async () => concat(await tagged[3]![1](), manifest)],
    ];
    test.each(signed)(
      "a %s that its maker signed stays as it is as an output, not as an input",
      async (_, make) => {
        const bytes = await make();
        for (const from of [() => bytes, () => inPieces(bytes)]) {
          const stored = await store.put(from(), { ...ANY, sanitize: "output" });
          expect(await contentOf(stored)).toEqual(bytes);
        }
        const stored = await store.put(bytes, { ...ANY, sanitize: true });
        expect(contains((await contentOf(stored)) ?? bytes, "c2pa")).toBe(false);
        expect(contains((await contentOf(stored)) ?? bytes, CANARY)).toBe(false);
      },
    );

    const isThere = async (file: StoredFile) => (await store.open(file)) !== undefined;

    const staged: [string, () => Promise<Bytes>, PutOptions][] = [
      ["PNG", () => png(6, 6), ANY],
      ["PNG without its metadata", tagged[0]![1], { ...ANY, sanitize: true }],
      ["MP4", () => mp4(), ANY],
      ["MP4 without its metadata", tagged[3]![1], { ...ANY, sanitize: true }],
    ];
    for (const [what, make, options] of staged) {
      test.each(["memory", "a stream"])(
        `a ${what} staged from %s is stored once it is kept`,
        async (from) => {
          const bytes = await make();
          const staging = await store.stage(from === "memory" ? bytes : inPieces(bytes), options);
          expect(await isThere(staging.file)).toBe(false);
          await staging.keep();
          expect(await isThere(staging.file)).toBe(true);
          await staging.keep();
          await staging.release(true);
          await staging.release(false);
          expect(await store.put(bytes, options)).toEqual(staging.file);
          const content = await contentOf(staging.file);
          expect(new Bun.CryptoHasher("sha256").update(content ?? "").digest("hex")).toBe(
            staging.file.sha256,
          );
        },
      );

      test.each(["memory", "a stream"])(`a ${what} staged from %s and not used is gone`, async (from) => {
        const bytes = await make();
        for (const isKept of [false, true]) {
          const staging = await store.stage(from === "memory" ? bytes : inPieces(bytes), options);
          if (isKept) await staging.keep();
          await staging.release(false);
          expect(await isThere(staging.file)).toBe(false);
          expect(await subject.leftovers()).toBe(0);
        }
      });
    }

    test("a staging that was not kept leaves nothing, even when it says that it is used", async () => {
      const kept = await store.stage(await png(), ANY);
      const onlyStaged = await store.stage(inPieces(await png()), ANY);
      await kept.keep();
      await onlyStaged.release(true);
      expect(await isThere(kept.file)).toBe(true);
      await kept.release(false);
      expect(await isThere(kept.file)).toBe(false);
    });

    test("a staging that has ended cannot be kept", async () => {
      const staging = await store.stage(await png(), ANY);
      await staging.release(false);
      expect(await staging.keep().catch((error: unknown) => error)).toBeInstanceOf(Error);
      expect(await isThere(staging.file)).toBe(false);
    });

    test("a release in the middle of keeping takes out what was kept", async () => {
      const staging = await store.stage(inPieces(await png()), ANY);
      const keeping = staging.keep();
      await staging.release(false);
      await keeping;
      expect(await isThere(staging.file)).toBe(false);
    });

    test("a file stored before stays, whatever becomes of equal content", async () => {
      const stored = await store.put(await png(), ANY);
      const staging = await store.stage(inPieces(await png()), ANY);
      await staging.keep();
      await staging.release(false);
      expect(await isThere(stored)).toBe(true);
    });

    for (const isFirstUsed of [true, false]) {
      for (const isSecondUsed of [true, false]) {
        const outcome = isFirstUsed || isSecondUsed ? "stays" : "is gone";
        test(`equal content that two keep ${outcome} when they say used: ${isFirstUsed}, ${isSecondUsed}`, async () => {
          const first = await store.stage(await png(), ANY);
          await first.keep();
          const second = await store.stage(inPieces(await png()), ANY);
          await second.keep();
          await first.release(isFirstUsed);
          expect(await isThere(second.file)).toBe(true);
          await second.release(isSecondUsed);
          expect(await isThere(second.file)).toBe(isFirstUsed || isSecondUsed);
        });
      }
    }

    test("whoever keeps equal content while it is taken out has it", async () => {
      for (const delay of [0, 1, 2, 3, 5, 8]) {
        const bytes = await png(7, 7 + delay);
        const [first, second] = [await store.stage(bytes, ANY), await store.stage(bytes, ANY)];
        await first.keep();
        await second.release(false);
        const released = first.release(false);
        for (let turn = 0; turn < delay; turn += 1) await Promise.resolve();
        const stored = await store.put(bytes, ANY);
        await released;
        expect(await isThere(stored)).toBe(true);
      }
    });

    test("what was kept is there until its release, and after the last one if anybody used it or it was there before", async () => {
      type Step = { staging: number; does: "stage" | "keep" | "use" | "drop"; isAwaited: boolean };
      const step = fc.record<Step>({
        staging: fc.nat(3),
        does: fc.constantFrom("stage", "keep", "use", "drop"),
        isAwaited: fc.boolean(),
      });
      let width = 10;
      await fc.assert(
        fc.asyncProperty(fc.boolean(), fc.array(step, { maxLength: 16 }), async (wasThere, steps) => {
          width += 1;
          const bytes = await png(width, 3);
          const before = wasThere ? await store.put(bytes, ANY) : undefined;
          let isUsed = before !== undefined;
          const held = new Map<number, { staging: StagedFile; isKept: boolean }>();
          const underWay: Promise<void>[] = [];
          let file = before;
          const drop = (number: number, isWanted: boolean) => {
            const each = held.get(number);
            held.delete(number);
            if (each?.isKept && isWanted) isUsed = true;
            return each?.staging.release(isWanted);
          };
          for (const { staging, does, isAwaited } of steps) {
            const each = held.get(staging);
            let work: Promise<void> | undefined;
            if (does === "stage" && each === undefined) {
              const fresh = await store.stage(staging % 2 === 0 ? bytes : inPieces(bytes), ANY);
              held.set(staging, { staging: fresh, isKept: false });
              file = fresh.file;
            } else if (does === "keep" && each !== undefined) {
              each.isKept = true;
              work = each.staging.keep();
            } else if (does === "use" || does === "drop") work = drop(staging, does === "use");
            if (work !== undefined) underWay.push(work);
            if (!isAwaited || file === undefined) continue;
            await Promise.all(underWay);
            const isExpected = isUsed || [...held.values()].some(({ isKept }) => isKept);
            if (isExpected) expect(await isThere(file)).toBe(true);
          }
          await Promise.all([...underWay, ...[...held.keys()].map((number) => drop(number, false))]);
          if (file !== undefined) expect(await isThere(file)).toBe(isUsed);
          expect(await subject.leftovers()).toBe(0);
        }),
        { numRuns: 60 },
      );
    });
  });
}
