import type { FileName } from "./content-files.ts";

/** The findings and actions of the present holders of one content. */
interface Content {
  holders: number;
  /** Whether a file existed when the first holder looked; undefined until one looks. */
  wasThere: boolean | undefined;
  isUsed: boolean;
  /** Once it is stored. */
  file: FileName | undefined;
}

/** One holder's share in a content, from the moment it knows the hash. */
export interface Pin {
  /** Reports whether a file existed before this holder stored anything. Only the first report of all holders counts. */
  found(isThere: boolean): void;
  /** Reports that the file is stored, and must stay as long as anybody holds it. */
  stored(file: FileName): void;
  /** Ends the hold. @returns whether the file can go: it did not exist before, nobody used it and nobody holds it */
  end(isUsed: boolean): boolean;
}

/** Counts the holders of each content in this process, so that the last one knows whether the file is new and unused. */
export function createPins() {
  const contents = new Map<string, Content>();

  function pin(sha256: string): Pin {
    const content = contents.get(sha256) ?? {
      ...{ holders: 0, wasThere: undefined, isUsed: false },
      file: undefined,
    };
    contents.set(sha256, content);
    content.holders += 1;
    return {
      found(isThere) {
        content.wasThere ??= isThere;
      },
      stored(file) {
        content.file = file;
      },
      end(isUsed) {
        content.holders -= 1;
        content.isUsed ||= isUsed;
        if (content.holders > 0) return false;
        contents.delete(sha256);
        return content.wasThere === false && !content.isUsed;
      },
    };
  }

  return Object.assign(pin, {
    isHeld: (sha256: string): boolean => contents.has(sha256),
    /** Files that are stored and held. */
    stored: (): FileName[] => [...contents.values()].flatMap(({ file }) => file ?? []),
  });
}

export type Pins = ReturnType<typeof createPins>;
