/** What those who are at work with one content have found and done so far. */
interface Content {
  holders: number;
  /** Whether a file was there when the first of them looked; undefined until one does. */
  wasThere: boolean | undefined;
  isUsed: boolean;
}

/** One holder's word on a content, from the moment it knows the hash. */
export interface Pin {
  /** Tells whether a file was there when the holder looked, before it stored anything. Only the first word of all holders counts. */
  found(isThere: boolean): void;
  /** Ends the hold. @returns whether the file is now nobody's: none was there before, nobody used it, nobody holds it */
  end(isUsed: boolean): boolean;
}

/**
 * Counts who is at work with which content, so that the last to leave can tell whether the file came with them and may go.
 * One process is enough: the data folder is locked by it.
 */
export function createPins() {
  const contents = new Map<string, Content>();

  return (sha256: string): Pin => {
    const content = contents.get(sha256) ?? { holders: 0, wasThere: undefined, isUsed: false };
    contents.set(sha256, content);
    content.holders += 1;
    return {
      found(isThere) {
        content.wasThere ??= isThere;
      },
      end(isUsed) {
        content.holders -= 1;
        content.isUsed ||= isUsed;
        if (content.holders > 0) return false;
        contents.delete(sha256);
        return content.wasThere === false && !content.isUsed;
      },
    };
  };
}

export type Pins = ReturnType<typeof createPins>;
