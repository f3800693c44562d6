import type { AttemptId } from "../../domain/ids.ts";
import { MEDIA_TYPES } from "../../domain/media/asset.ts";
import { type InputFile, MASK_PAINTS, type MaskPaint } from "../../domain/ports/provider.ts";
import type { InputRole } from "../../domain/task/request.ts";

/** An input as expressions see it. Placeholders represent its content until the request is built. */
export interface FileValue {
  readonly role: InputRole;
  readonly type: string;
  /** `input-1.png`. */
  readonly name: string;
  readonly width?: number;
  readonly height?: number;
  /** Seconds. */
  readonly duration?: number;
  /** Stands for the content, in a body of parts. */
  readonly content: string;
  /** Stands for the content in base64. */
  readonly base64: string;
  /** Stands for the content as a data URI. */
  readonly uri: string;
  /** An address that expires; absent if the service has no public address. */
  readonly url?: string;
  /** The shape that the form gives an input inside a body. */
  readonly inline?: unknown;
  /** A mask as a grey picture, in which this colour marks what may change. */
  readonly either?: FileValue;
  readonly white?: FileValue;
  readonly black?: FileValue;
  /** What an upload before the submission gave. */
  readonly [gift: string]: unknown;
}

type Form = "own" | MaskPaint;

/** What stands for the content of some file of some request. */
export const CONTENT_STAND_IN = /^<[^<>]+:\d+:(?:own|white|black|either):content>$/;

/** The inputs of one request, with a placeholder for the content of each. */
export class Files {
  #values: readonly FileValue[];
  readonly #inputs: readonly InputFile[];
  readonly #pattern: RegExp;
  /** Inputs that have gone into the request. */
  readonly #used = new Set<number>();

  /** @param inline members of `file.inline`, and which member of the file each has */
  constructor(
    attempt: AttemptId,
    inputs: readonly InputFile[],
    inline: Readonly<Record<string, string>> = {},
  ) {
    // The placeholder contains the attempt's id, which a caller cannot know when writing a prompt.
    this.#pattern = new RegExp(`<${attempt}:(\\d+):(own|white|black|either):(content|base64)>`);
    this.#inputs = inputs;
    this.#values = inputs.map((input, i) => {
      const standIn = (form: Form) => (as: string) => `<${attempt}:${i}:${form}:${as}>`;
      const file = fileValue(input, i, standIn("own"));
      const painted = input.painted === undefined ? [] : MASK_PAINTS;
      const forms = painted.map((colour) => [
        colour,
        fileValue({ ...input, type: "image/png" }, i, standIn(colour)),
      ]);
      const shape = Object.entries(inline).map(([name, member]) => [name, file[member]]);
      return {
        ...file,
        ...Object.fromEntries(forms),
        ...(shape.length === 0 ? {} : { inline: Object.fromEntries(shape) }),
      };
    });
  }

  /** The inputs, as expressions see them. */
  get values(): readonly FileValue[] {
    return this.#values;
  }

  /** An input that has not gone to the upstream so far. */
  firstUnused(): InputFile | undefined {
    return this.#inputs.find((_, i) => !this.#used.has(i));
  }

  /** Adds to a file what its upload gave. A name that it has already takes its place. */
  add(file: FileValue, gifts: Readonly<Record<string, string | number>>): void {
    const { index } = this.#partOf(file.content);
    this.#values = this.#values.map((each, i) => (i === index ? { ...each, ...gifts } : each));
    this.#used.add(index);
  }

  /** What tells the content of a file from any other. */
  hashOf(file: FileValue): string {
    return this.#inputs[this.#partOf(file.content).index]?.sha256 ?? "";
  }

  /** A text as bytes, with the placeholders replaced by the content of inputs. */
  async bytesOf(text: string): Promise<Uint8Array> {
    for (const [i, { url }] of this.#values.entries())
      if (url !== undefined && text.includes(url)) this.#used.add(i);
    const pieces: Uint8Array[] = [];
    const [first = "", ...rest] = text.split(this.#pattern);
    pieces.push(Buffer.from(first));
    for (let i = 0; i < rest.length; i += 4) {
      const [index, form, as, after = ""] = rest.slice(i, i + 4);
      const content = Buffer.from(await this.#contentOf(Number(index), form as Form));
      pieces.push(as === "base64" ? Buffer.from(content.toString("base64"), "latin1") : content);
      pieces.push(Buffer.from(after));
    }
    return pieces.length === 1 ? (pieces[0] ?? new Uint8Array(0)) : Buffer.concat(pieces);
  }

  /** The content of a file. */
  async contentOf(file: FileValue): Promise<Uint8Array<ArrayBuffer>> {
    const { index, form } = this.#partOf(file.content);
    return new Uint8Array(await this.#contentOf(index, form));
  }

  async #contentOf(index: number, form: Form): Promise<ArrayBuffer> {
    const input = this.#inputs[index];
    if (input === undefined) throw new Error(`There is no input ${index}`);
    this.#used.add(index);
    if (form === "own" || input.painted === undefined) return input.content.arrayBuffer();
    return (await input.painted(form)).arrayBuffer();
  }

  #partOf(text: string): { readonly index: number; readonly form: Form } {
    const [, index = "-1", form = "own"] = this.#pattern.exec(text) ?? [];
    return { index: Number(index), form: form as Form };
  }
}

function fileValue(input: InputFile, index: number, standIn: (as: string) => string): FileValue {
  const { role, type, width, height, durationMs, url } = input;
  const base64 = standIn("base64");
  return {
    ...(width > 0 ? { width, height } : {}),
    ...{ role, type, name: `input-${index + 1}.${MEDIA_TYPES[type].extension}` },
    ...(durationMs === undefined ? {} : { duration: durationMs / 1000 }),
    ...{ content: standIn("content"), base64, uri: `data:${type};base64,${base64}` },
    ...(url === undefined ? {} : { url: url() }),
  };
}
