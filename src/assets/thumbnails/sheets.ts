import type { ThumbnailWidth } from "../../domain/media/thumbnail.ts";
import type { SheetCell, Thumbnail, Thumbnails } from "../../domain/ports/thumbnails.ts";
import { type DrawnCell, sheetLayout } from "./sheet.ts";

/** Sheets that are kept for those who ask again, about 200 kB each. */
const MOST_KEPT = 16;

/**
 * Contact sheets, each made of the thumbnails of its files. The latest are kept in memory.
 * @param draw one at a time
 */
export function createSheets(
  read: Thumbnails["read"],
  draw: (cells: readonly DrawnCell[], owner: string | undefined) => Promise<Thumbnail>,
): Thumbnails["sheet"] {
  const kept = new Map<string, Promise<Thumbnail>>();

  async function make(cells: readonly SheetCell[]): Promise<Thumbnail> {
    const width: ThumbnailWidth = sheetLayout(cells.length).cell > 160 ? 320 : 160;
    const drawn: DrawnCell[] = [];
    for (const { file, label } of cells) {
      const thumbnail = await read(file, width);
      if (thumbnail.kind === "busy") return thumbnail;
      const picture = thumbnail.kind === "picture" ? await thumbnail.content.bytes() : undefined;
      drawn.push({ picture, label });
    }
    // All are of one group, and so of one account.
    return draw(drawn, cells[0]?.file.accountId);
  }

  return async (cells) => {
    const name = JSON.stringify(cells.map(({ file, label }) => [file.sha256, label]));
    const known = kept.get(name);
    const making = known ?? make(cells);
    // The latest are the last, so that the oldest goes.
    kept.delete(name);
    kept.set(name, making);
    const oldest = kept.size > MOST_KEPT ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
    const isGood = await making.then(({ kind }) => kind === "picture").catch(() => false);
    if (!isGood && kept.get(name) === making) kept.delete(name);
    return making;
  };
}
